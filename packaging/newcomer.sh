#!/bin/bash
# newcomer.sh: the first minutes of a newcomer, in a bare Debian that has Go, git and make and nothing else: clones
# the last commit, pipes a chat without any model through make run, then runs make test. Needs root, and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "${NEWCOMER:-}" ] || exec env NEWCOMER=1 unshare --mount "$0" "$@" # the mounts end with the script
command -v debootstrap >/dev/null || { echo "newcomer.sh: please install debootstrap first" >&2 && exit 1; }

bare=$(mktemp -d)
trap 'umount -R "$bare"/{proc,dev,usr/local/go} 2>/dev/null; rm -rf --one-file-system "$bare"' EXIT
step() { # NAME COMMAND…: runs it and says how long it took
	local name=$1 began=$SECONDS
	shift
	"$@" || { echo "newcomer: $name failed after $((SECONDS - began)) s" >&2 && exit 1; }
	echo "newcomer: $name took $((SECONDS - began)) s"
}
inside() { chroot "$bare" env -i HOME=/root TERM=xterm PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin "${settings[@]}" "$@"; }

. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | awk -v r="$VERSION_CODENAME" '$2 == r { print $1; exit }')
debian() { debootstrap --variant=minbase --include=git,make,ca-certificates "$VERSION_CODENAME" "$bare" "$mirror" >/dev/null; }
step "making a bare $VERSION_CODENAME" debian
cat /etc/apt/apt.conf.d/* | grep -s '^Acquire' >"$bare/etc/apt/apt.conf.d/99machine" || true
cp -L /etc/resolv.conf /etc/hosts "$bare/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$bare/etc/ssl/certs/"
mkdir "$bare/usr/local/go"
mount --bind "$(go env GOROOT)" "$bare/usr/local/go"
mount -o remount,bind,ro "$bare/usr/local/go"
mount -t proc proc "$bare/proc"
mount --rbind /dev "$bare/dev"
settings=() # how this machine reaches the network
for name in GOPROXY GOSUMDB GONOSUMDB GOPRIVATE; do settings+=("$name=$(go env $name)"); done
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
	if [ "${!name:-}" ]; then settings+=("$name=${!name}"); fi
done
git clone -q --no-local . "$bare/root/pinch"

talk() {
	inside make -C /root/pinch --no-print-directory run <<-END | tee "$bare/replies"
		remember that the spare key is under the blue pot
		what did I tell you about the key?
		how warm is the board?
		记住备用钥匙在蓝色花盆下面
		我跟你说过关于花盆的什么？
		板子多少度？
	END
	[ "$(grep -c '⚡$' "$bare/replies")" = 6 ] && grep -q '^1. the spare key is under the blue pot ⚡' "$bare/replies" &&
		grep -q '^2. 备用钥匙在蓝色花盆下面 ⚡' "$bare/replies"
}
step "make run, with a chat" talk
step "make test" inside make -C /root/pinch test
step "looking for what the tests left" test -z "$(inside git -C /root/pinch status --porcelain)"
