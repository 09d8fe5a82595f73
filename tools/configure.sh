#!/bin/sh
# Configures a build, without a word when all is well. Arguments: the build folder, more for cmake.
set -u
build=$1
shift
mkdir -p "$build" || exit 1
cmake -S . -B "$build" "$@" >"$build/configure.log" 2>&1 || {
  cat "$build/configure.log" >&2
  exit 1
}
