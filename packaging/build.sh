#!/bin/bash
# build.sh [arm64|armv7|armv6]: builds the static, stripped binary for this machine (bin/pinch) or for a board
# (bin/pinch-TARGET), which is then run under qemu with the oldest processor of its kind.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-}
out=bin/pinch${target:+-$target}
version=$(git describe --tags --always --dirty 2>/dev/null || echo dev)
flags="-s -w -linkmode external -extldflags -static -X main.version=$version"

# Debian's armhf libc is ARMv7 and would die on a Pi Zero, so armv6 is linked with armel's.
case $target in
"") packaging/need.sh build ;;
arm64) export GOARCH=arm64 CC=aarch64-linux-gnu-gcc run="qemu-aarch64-static -cpu cortex-a53" ;;
armv7) export GOARCH=arm GOARM=7 CC=arm-linux-gnueabihf-gcc run="qemu-arm-static -cpu cortex-a7" ;;
armv6) export GOARCH=arm GOARM=6 CC="arm-linux-gnueabi-gcc -march=armv6 -mfpu=vfp -mfloat-abi=softfp -marm" \
	run="qemu-arm-static -cpu arm1176" ;;
*) echo "build.sh: there is no target $target: arm64, armv7 or armv6" >&2 && exit 2 ;;
esac
if [ "$target" ]; then packaging/need.sh cross qemu; fi

[ -e "$out" ] || echo "Building $out: the first time SQLite is compiled, which takes some minutes" >&2
packaging/go.sh build -ldflags "$flags" -o "$out" .

[ "$target" ] || exit 0
if [ "$target" = armv6 ] && ! readelf -A "$out" | grep -qx ' *Tag_CPU_arch: v6'; then
	echo "$out is not ARMv6:" >&2 && readelf -A "$out" >&2
	exit 1
fi
echo "$out: $(stat -c %s "$out") bytes, runs: $($run "$out" version)"
