#!/bin/bash
# meter.sh ARGUMENTS…: runs the prefill meter (meter.mjs), whose tokenizer it installs the first time, in the cache.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lock=$(sha256sum "$here/package-lock.json")
dir=${XDG_CACHE_HOME:-$HOME/.cache}/pinch/meter-${lock:0:12}
"$here/../need.sh" node
if [ ! -d "$dir/node_modules" ]; then
	mkdir -p "$(dirname "$dir")"
	new=$(mktemp -d "$dir.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$new"
	(cd "$new" && npm ci </dev/null >log 2>&1) || { cat "$new/log" >&2 && exit 1; }
	mv -T "$new" "$dir" 2>/dev/null || [ -d "$dir/node_modules" ] # another run may have been faster
	rm -rf "$new"
fi
TOKENIZER_HOME=$dir exec node "$here/meter.mjs" "$@"
