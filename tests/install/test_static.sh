#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Programs with the library in themselves, against an installed libtessera.a; where the build has none
# (TESSERA_STATIC) there is nothing to test. Argument: the build folder.
# Slow: it installs the whole build.
set -u
. "$(dirname "$0")/../cases.sh"
here=$root/tests/install
if [ ! -e "$build/lib/libtessera.a" ]; then
  finish
  exit
fi

check "install" cmake --install "$build" --prefix "$work/prefix"
mv "$work/prefix" "$work/moved"
prefix=$work/moved
archive=$(find "$prefix" -name libtessera.a)
lib=$(dirname "$archive")
PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH

carries_the_library() { "$1" && ! ldd "$1" | grep libtessera; }

with_pkg_config() { # program, what pkg-config is asked for
  program=$1
  shift
  flags=$(pkg-config --cflags --libs "$@") || return 1
  cc -std=c17 -Wall -Werror "$here/main.c" "$here/product.c" $flags -o "$program" &&
    carries_the_library "$program"
}

# As where a distribution's package has the archive alone.
without_the_shared_one() {
  cp -r "$prefix" "$work/alone" && find "$work/alone" -name 'libtessera*.so*' -exec rm {} + &&
    PKG_CONFIG_PATH=$(dirname "$(find "$work/alone" -name tessera.pc)") &&
    with_pkg_config "$work/program_alone" --static tessera
}

with_cmake() {
  cmake -S "$here/static" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$work/build" && carries_the_library "$work/build/program"
}

# Names that the archive shows: the headers' and base/'s, all of them ours.
shows_no_others() { ! nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | grep -v '^tsr_'; }
hides_the_inside() {
  nm -g --defined-only "$archive" | grep ' tsr_context_create$' &&
    ! nm -g --defined-only "$archive" | grep ' tsr_engine_find$'
}

# An engine beside the program finds base/ in the program, and its message is the program's.
number() { sed -n "s/^#define TSR_VERSION_$1 //p" "$root/include/tessera.h"; }
loads_engines() {
  mkdir "$work/near" &&
    cc -shared -fPIC -I"$root/include" -I"$root/src" "$here/static/engine.c" \
      -o "$work/near/libtessera_cuda.so.$(number MAJOR).$(number MINOR)" &&
    cc "$here/static/asks.c" $(pkg-config --cflags --libs tessera-static) -o "$work/near/asks" &&
    "$work/near/asks" | grep '^TSR_ERR_ENGINE: .*the imitated engine was loaded'
}

check "a program with pkg-config" with_pkg_config "$work/program" tessera-static
check "pkg-config --static where there is no shared library" without_the_shared_one
check "a program with find_package" with_cmake
check "the archive shows no names but ours" shows_no_others
check "the archive hides the inside" hides_the_inside
check "a program loads an engine" loads_engines

finish
