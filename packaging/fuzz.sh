#!/bin/bash
# fuzz.sh: runs each fuzz target for FUZZTIME (10s).
set -euo pipefail
cd "$(dirname "$0")/.."
packaging/need.sh build
grep -roE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . | sort | while IFS=: read -r file func; do
	name=${func#func }
	echo "$name"
	packaging/go.sh test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-10s}" "$(dirname "$file")" </dev/null
done
