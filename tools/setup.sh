#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Installs what is missing to build: on Debian and Ubuntu as root. Otherwise it prints the one command
# to run and fails. Quick, and without a word, when all is there.
# Arguments: --tests, to build the tests and run them, too; then more "probe:package" pairs, the probe
# a command's name or, with a slash, a file.
set -u

missing=
want() { # package, then the command that finds it
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
blas() {
  { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q 'libopenblas\.so'
}
# As tests/pytest.sh looks for it.
has_modules() { # as Python has them: "pytest, numpy"
  python3 -c "import $1" || /usr/bin/python3 -c "import $1"
}
cmake_new_enough() {
  have=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
  [ -n "$have" ] && [ "$(printf '3.25\n%s\n' "$have" | sort -V | head -n 1)" = 3.25 ]
}

want build-essential sh -c 'command -v cc && command -v make'
want cmake command -v cmake
want pkg-config command -v pkg-config
want libopenblas-dev blas
want libcjson-dev pkg-config --exists libcjson
if [ "${1:-}" = --tests ]; then
  shift
  want libcmocka-dev pkg-config --exists cmocka
  want libhwloc-dev pkg-config --exists hwloc
  want python3-pytest has_modules pytest
  want python3-cffi has_modules "pytest, cffi"
  want python3-numpy has_modules "pytest, cffi, numpy"
fi
for pair in "$@"; do
  case $pair in
    */*) want "${pair#*:}" test -e "${pair%%:*}" ;;
    *) want "${pair#*:}" command -v "${pair%%:*}" ;;
  esac
done

if [ -n "$missing" ]; then
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing (names as in Debian):$missing" >&2
    echo "Install them with your system's packages, then run this again." >&2
    exit 1
  fi
  if [ "$(id -u)" != 0 ]; then
    echo "Some packages are missing. Run this, then try again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y$missing" >&2
    exit 1
  fi
  echo "Installing:$missing"
  log=$(mktemp)
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    exit 1
  fi
  rm -f "$log"
fi

if ! cmake_new_enough; then
  echo "CMake 3.25 or newer is needed, this is $(cmake --version 2>/dev/null | head -n 1)." >&2
  echo "A newer one: pip install cmake, or https://cmake.org/download" >&2
  exit 1
fi
