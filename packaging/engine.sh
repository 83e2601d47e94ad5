#!/bin/bash
# engine.sh: prints the path of a real Ollama server, which it builds the first time (about 4 minutes on two cores).
# The release is old on purpose: those after it leave headers out of the module's archive, or need another engine.
set -euo pipefail
release=v0.6.5
dir=${XDG_CACHE_HOME:-$HOME/.cache}/pinch/ollama-$release
if [ ! -x "$dir/ollama" ]; then
	"$(dirname "$0")/need.sh" build engine
	echo "Building Ollama $release once, about 4 minutes" >&2
	mkdir -p "$dir"
	new=$(mktemp -d "$dir/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	# The C compiler warns about much in there; it is of interest only when the build fails.
	CGO_ENABLED=1 CGO_CFLAGS=-O2 CGO_CXXFLAGS=-O2 GOBIN=$new nice -n 10 \
		go install -trimpath -ldflags='-s -w' "github.com/ollama/ollama@$release" >"$new/log" 2>&1 || { cat "$new/log" >&2 && exit 1; }
	mv "$new/ollama" "$dir/ollama"
fi
echo "$dir/ollama"
