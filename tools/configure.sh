#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Configures a build. Prints what the build has if that is not as it was when it was configured last.
# Arguments: the build folder, more for cmake.
set -u
build=$1
shift
mkdir -p "$build" || exit 1
has() { sed -n '/^-- Tessera .* has:/,/^-- Configuring/{/^-- Configuring/d; s/^-- //p;}' "$1"; }
before=$(test -f "$build/configure.log" && has "$build/configure.log")
cmake -S . -B "$build" "$@" >"$build/configure.log" 2>&1 || {
  cat "$build/configure.log" >&2
  exit 1
}
now=$(has "$build/configure.log")
test "$now" = "$before" || printf '%s\n' "$now"
