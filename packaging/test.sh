#!/bin/bash
# test.sh: vet, the tests of all packages under the race detector, then the end-to-end tests of the binary without it.
set -uo pipefail
cd "$(dirname "$0")/.."
packaging/need.sh build test && packaging/build.sh && packaging/go.sh vet ./... || exit 1
failed=0
packaging/go.sh test -race $(packaging/go.sh list ./... | grep -v '^pinch/packaging') || failed=1
packaging/go.sh test -count=1 -timeout 20m ./packaging/... || failed=1 # the cache does not know what the binary is made of
exit $failed
