#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Each library shows what its headers declare, under the version's node, and what our other libraries
# use, under TESSERA_PRIVATE; and nothing else. (tests/dropin/test_exports.py has the doors, which show
# the BLAS's and ScaLAPACK's names.) Argument: the build folder.
# Slow: it looks at the whole build.
set -u
. "$(dirname "$0")/../cases.sh"

# Only the names of functions count: the real mpi.h is not needed.
: >mpi.h
# Names of the functions that a header declares, and those that it includes.
declared() {
  ${CC:-cc} -E -P -I"$work" -I"$root/include" "$root/include/$1" | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*visibility("default"))) *//p' | sed -n 's/^[^(]*[ *]\(tsr_[a-z0-9_]*\) *(.*/\1/p' | sort -u
}
for header in tessera tessera_model tessera_papers tessera_mpi tessera_mpi_model; do
  declared $header.h >$header.all
done
cp tessera.all tessera.names
comm -23 tessera_model.all tessera.all >tessera_model.names
comm -23 tessera_papers.all tessera.all >tessera_papers_model.names
comm -23 tessera_mpi.all tessera.all >tessera_mpi.names
sort -u tessera_model.all tessera_mpi.all | comm -23 tessera_mpi_model.all - >tessera_mpi_model.names

number() { sed -n "s/^#define TSR_VERSION_$1 //p" "$root/include/tessera.h"; }
version=$(number MAJOR).$(number MINOR)

# "name node" of what a library defines for others; "-" where it has no version.
shown() {
  nm -D --defined-only --with-symbol-versions "$build/lib/$1.so.$version" | awk '$2 != "A" { print $3 }' |
    sed 's/@@*/ /; / /!s/$/ -/' | sort
}
of_node() { shown "$1" | awk -v node="$2" '$2 == node { print $1 }'; }
# "name node" of what a library or program uses of ours.
used() {
  nm -D --undefined-only --with-symbol-versions "$1" | awk '{ print $2 }' | grep '^tsr_' |
    sed 's/@/ /; / /!s/$/ -/' | sort
}

same() { diff "$1" "$2" && test -s "$1"; }
only_nodes() { # library, nodes
  ! shown "$1" | awk -v nodes="$2" '{ if (index(" " nodes " ", " " $2 " ") == 0) print }' | grep .
}
shows_headers() { # library
  of_node "$1" "TESSERA_$version" >shown_names
  same "${1#lib}.names" shown_names
}
shows_model() { # library
  of_node "$1" "TESSERA_MODEL_$version" >shown_names
  same "${1#lib}_model.names" shown_names
}
shows_private() { # library, names
  only_nodes "$1" TESSERA_PRIVATE && test "$(of_node "$1" TESSERA_PRIVATE | tr '\n' ' ')" = "$2 "
}

check "headers_were_read" test "$(grep -c '^tsr_[sdcz]*gemm\(_async\)*$' tessera.names)" = 10
for library in libtessera libtessera_mpi; do
  [ -e "$build/lib/$library.so" ] || { skip "$library" "$library.so" && continue; }
  check "${library}_shows_its_header" shows_headers $library
  check "${library}_shows_its_model_header" shows_model $library
  check "${library}_has_no_other_versions" only_nodes $library \
    "TESSERA_$version TESSERA_MODEL_$version TESSERA_PRIVATE"
  check "${library}_is_named_by_version" sh -c \
    "readelf -d '$build/lib/$library.so' | grep -qF 'soname: [$library.so.$version]'"
done
check "libtessera_papers_shows_its_header" shows_model libtessera_papers
check "libtessera_papers_has_no_other_versions" only_nodes libtessera_papers "TESSERA_MODEL_$version"
plugin() { # library, names
  [ -e "$build/lib/$1.so.$version" ] || { skip "$1" "$1.so.$version" && return; }
  check "${1}_shows_what_is_asked_for" shows_private "$1" "$2"
}
plugin libtessera_cuda tsr_engine_cuda
plugin libtessera_hip tsr_engine_hip
plugin libtessera_nccl tsr_fabric_nccl
plugin libtessera_pblas_mpi "tsr_pblas_end tsr_pblas_offer"

# What is private is what our libraries use of each other. Where some are not built less is used.
: >uses
for library in "$build"/lib/libtessera*.so."$version"; do used "$library" >>uses; done
awk '$2 == "TESSERA_PRIVATE" { print $1 }' uses | sort -u >used_names
for library in libtessera libtessera_mpi; do
  [ ! -e "$build/lib/$library.so" ] || of_node $library TESSERA_PRIVATE
done | sort -u >private_names
all_are_there() { ! grep ' -$' uses && test -z "$(comm -23 used_names private_names)"; }
check "what_our_libraries_use_is_shown" all_are_there
if [ -e "$build/lib/libtessera_cuda.so.$version" ] && [ -e "$build/lib/libtessera_mpi.so" ]; then
  check "nothing_is_private_that_none_uses" same used_names private_names
fi

# Programs use what headers declare.
uses_headers() { ! used "$1" | grep 'TESSERA_PRIVATE\| -$'; }
for program in "$build"/bin/tessera*; do
  check "$(basename "$program")_uses_headers_alone" uses_headers "$program"
done
finish
