#!/bin/bash
# need.sh GROUP…: installs the Debian packages of the groups that are missing, and is silent when none is.
# Groups: build (C compiler), cross (for boards), qemu (runs boards' binaries), test (watches system calls), node,
# engine (C++ compiler, for engine.sh).
set -euo pipefail

can_build() { echo 'int main(void) { return 0; }' | gcc -x c -static -o /dev/null - 2>/dev/null; }

want=()
for group in "$@"; do
	case $group in
	build) can_build || want+=(gcc libc6-dev) ;;
	cross) want+=(gcc libc6-dev binutils gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf
		libc6-dev-armhf-cross gcc-arm-linux-gnueabi libc6-dev-armel-cross) ;;
	qemu) want+=(qemu-user-static) ;;
	test) want+=(strace) ;;
	node) { command -v node && command -v npm; } >/dev/null || want+=(nodejs npm) ;;
	engine) command -v g++ >/dev/null || want+=(g++) ;;
	*) echo "need.sh: there is no group $group" >&2 && exit 2 ;;
	esac
done
missing=()
for package in "${want[@]}"; do
	[[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ?i* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((UID != 0)); then as_root=(sudo); fi
if ! command -v apt-get >/dev/null || { ((UID != 0)) && ! command -v sudo >/dev/null; }; then
	echo "Please install these first, as root: apt-get install ${missing[*]}" >&2
	exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$log" 2>&1; }
echo "Installing ${missing[*]}" >&2
apt install -y --no-install-recommends "${missing[@]}" || # the package lists may be missing or old
	{ apt update && apt install -y --no-install-recommends "${missing[@]}"; } || { cat "$log" >&2 && exit 1; }
