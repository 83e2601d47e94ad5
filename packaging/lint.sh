#!/bin/bash
# lint.sh: gofmt, vet, staticcheck, and govulncheck where its database can be reached.
set -euo pipefail
cd "$(dirname "$0")/.."
packaging/need.sh build
unformatted=$(gofmt -l .)
if [ "$unformatted" ]; then
	printf 'gofmt would change:\n%s\n' "$unformatted" >&2
	exit 1
fi
packaging/go.sh vet ./...
packaging/go.sh run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
if timeout 10 bash -c '</dev/tcp/vuln.go.dev/443' 2>/dev/null; then
	packaging/go.sh run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...
else
	echo "govulncheck was not run: its database, vuln.go.dev, cannot be reached"
fi
