#!/bin/bash
# go.sh ARGUMENTS…: the go command with the settings that all of Pinch is built with. They are part of the build
# cache's key: with others, SQLite compiles anew, which takes minutes.
set -euo pipefail
export CGO_ENABLED=1 CGO_CFLAGS=-O2
GOFLAGS="$(go env GOFLAGS) -trimpath -tags=sqlite_fts5,netgo,osusergo,sqlite_omit_load_extension" exec go "$@"
