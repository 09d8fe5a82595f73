#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Installs a build into a fresh prefix and builds a program of two files against it, once with
# pkg-config and once with find_package. Argument: the build folder.
# Slow: it installs the whole build.
set -u
. "$(dirname "$0")/../cases.sh"
here=$root/tests/install

check "install" cmake --install "$build" --prefix "$work/prefix"
# The whole tree moves: nothing may point at where it was first.
mv "$work/prefix" "$work/moved"
prefix=$work/moved
lib=$(dirname "$(find "$prefix" -name 'libtessera.so' | head -n 1)")

with_pkg_config() {
  PKG_CONFIG_PATH=$lib/pkgconfig
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags --libs tessera) || return 1
  cc -std=c17 -Wall -Werror "$here/main.c" "$here/product.c" $flags -Wl,-rpath,"$lib" \
    -o "$work/program" && "$work/program"
}

with_cmake() {
  cp -r "$here" "$work/source"
  cmake -S "$work/source" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$work/build" && "$work/build/program"
}

# The library across processes, where this build has it.
with_mpi() {
  cp -r "$here/mpi" "$work/mpi"
  cmake -S "$work/mpi" -B "$work/build-mpi" -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$work/build-mpi" && "$work/build-mpi/program"
}

# The headers for C++.
with_cpp() {
  PKG_CONFIG_PATH=$lib/pkgconfig
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags --libs tessera) || return 1
  g++ -std=c++17 -Wall -Wextra -Werror "$root/examples/gram.cpp" $flags -Wl,-rpath,"$lib" \
    -o "$work/gram_cpp" && "$work/gram_cpp" | grep '^G(0, 0) = [0-9]'
}

# The Fortran interface, where this build has it.
with_fortran() {
  PKG_CONFIG_PATH=$lib/pkgconfig
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags --libs tessera-fortran) || return 1
  gfortran "$root/examples/gram.f90" $flags -Wl,-rpath,"$lib" -o "$work/gram" &&
    "$work/gram" | grep 'G(1, 1) = '
}

# Where pkg-config knows of nothing but cJSON.
configured_without_cmocka() { # folder, more for cmake
  mkdir -p "$work/descriptions" &&
    cp "$(pkg-config --variable=pcfiledir libcjson)/libcjson.pc" "$work/descriptions" || return 1
  folder=$work/$1
  shift
  PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR=$work/descriptions cmake -S "$root" -B "$folder" \
    -DTESSERA_CUDA=OFF -DTESSERA_HIP=OFF -DTESSERA_MPI=OFF "$@"
}
has_no_tests() { [ -e "$work/plain/CMakeCache.txt" ] && [ ! -e "$work/plain/tests" ]; }
tests_need_cmocka() {
  ! configured_without_cmocka tested -DTESSERA_TESTS=ON >"$work/said_cmake" 2>&1 &&
    grep 'The tests need cmocka' "$work/said_cmake"
}

header_alone() { # header
  echo "#include <$1>" >"$work/alone.c"
  cc -std=c99 -pedantic-errors -Wall -Werror -I"$prefix/include" -fsyntax-only "$work/alone.c" &&
    cc -x c++ -std=c++11 -pedantic-errors -Wall -Werror -I"$prefix/include" -fsyntax-only "$work/alone.c"
}

# The part that it loads is beside it, and finds what it needs there.
preloads_pblas() {
  "$prefix/bin/tessera" run -- sh -c 'echo $LD_PRELOAD' | grep -q "$lib/libtessera_pblas.so.0.2" &&
    ldd "$lib/libtessera_pblas_mpi.so.0.2" | grep "libtessera_mpi.so.0.2 => $lib/" &&
    ! ldd "$lib/libtessera_pblas_mpi.so.0.2" | grep "not found"
}

# What `make install` says is enough for a program to be built and to run.
as_make_install_says() {
  cp "$build/install_manifest.txt" "$work/manifest" || return 1
  sh "$root/tools/install.sh" "$build" "$work/own" >"$work/said_install" || return 1
  cp "$work/manifest" "$build/install_manifest.txt"
  (
    cd "$work" && eval "$(grep '^  export ' "$work/said_install")" &&
      cc "$here/main.c" "$here/product.c" $(pkg-config --cflags --libs tessera) -o own_program &&
      ./own_program && [ "$(command -v tessera)" = "$work/own/bin/tessera" ]
  )
}
says_what_cannot_be_written() {
  echo >"$work/file"
  ! sh "$root/tools/install.sh" "$build" "$work/file/prefix" 2>"$work/said_install" &&
    grep 'needs no root' "$work/said_install"
}

check "a program with pkg-config" with_pkg_config
check "a program as make install says" as_make_install_says
check "a prefix that cannot be written" says_what_cannot_be_written
check "a program with find_package" with_cmake
check "a build needs no cmocka" configured_without_cmocka plain
check "a build has no tests unless they are asked for" has_no_tests
check "tests say that they need cmocka" tests_need_cmocka
check "tessera.h alone, as C99 and C++11" header_alone tessera.h
check "tessera_model.h alone, as C99 and C++11" header_alone tessera_model.h
check "tessera_papers.h alone, as C99 and C++11" header_alone tessera_papers.h
if [ -e "$lib/libtessera_mpi.so" ]; then
  check "a program with find_package and MPI" with_mpi
  check "the PBLAS door is preloaded" preloads_pblas
fi
if command -v g++ >/dev/null; then check "a C++ program with pkg-config" with_cpp; fi
if [ -e "$lib/libtessera_fortran.so" ]; then check "a Fortran program with pkg-config" with_fortran; fi
check "the installed command" "$prefix/bin/tessera" --help
finds_machines() {
  (cd "$work" && "$prefix/bin/tessera" machine --machine v100x3-summit --json) >"$work/summit.json" &&
    grep -q '"name": "v100x3-summit"' "$work/summit.json" &&
    ! "$prefix/bin/tessera" machine --machine nonesuch 2>"$work/said_machine" &&
    grep 'installed: a100x4, a100x8, ' "$work/said_machine"
}
check "installed machines by their names" finds_machines
# As where /lib is a link to /usr/lib, and the loader has found the library by the link.
finds_machines_by_link() {
  ln -s "$lib" "$work/link" && LD_LIBRARY_PATH=$work/link "$prefix/bin/tessera" machine --list |
    grep v100x3-summit
}
check "installed machines, where the library's folder is a link" finds_machines_by_link
check "the installed BLAS door" "$prefix/bin/tessera" run --report -- true

finish
