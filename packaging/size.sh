#!/bin/bash
# size.sh [PACKAGE]: prints the bytes of the static arm64 binary. Fails above 14 MB, and when a function that calls
# reflect's Method or MethodByName with an unknown name is linked: the linker then keeps every exported method.
set -euo pipefail
cd "$(dirname "$0")/.."
packaging/need.sh cross
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
GOARCH=arm64 CC=aarch64-linux-gnu-gcc packaging/go.sh build -o "$dir/pinch" \
	-ldflags "-s -w -linkmode external -extldflags -static -dumpdep" "${1:-.}" 2>"$dir/links" || { tail "$dir/links" >&2 && exit 1; }
grep -q '^main\.main -> ' "$dir/links" || { echo "the linker did not say what it links" >&2 && exit 1; }
if grep -o '^[^ ]* -> [^ ]* <[^>]*ReflectMethod>.*' "$dir/links" >&2; then
	echo "the binary calls reflect's Method or MethodByName, as above: find another way" >&2
	exit 1
fi
bytes=$(stat -c %s "$dir/pinch")
echo "arm64, static, stripped: $bytes bytes"
((bytes <= 14000000)) || { echo "that is more than 14,000,000" >&2 && exit 1; }
