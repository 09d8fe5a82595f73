#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The netlib testers of the level-3 BLAS and of CBLAS through our doors, error exits among them,
# over netlib's own BLAS. They exit 0 whatever happens, so what they print is read. Arguments: the
# build folder; a number of devices, for every size on that many (none or "-": a sample); types
# (s d c z); an arithmetic (native), under which every plan is verified if it is not native.
# TSR_NETLIB: the folder of the testers and of netlib's BLAS, where they are not installed.
# Slow: 15 s of a core.
. "$(dirname "$0")/dropin.sh"
all_on=${2:-}
[ "$all_on" = - ] && all_on=
types=${3:-s d c z}
arithmetic=${4:-native}

# Emulated products take long: each turn of samples (tests/turn.h) has one of the types.
if [ "$arithmetic" != native ] && [ -n "${TSR_TEST_TURN:-}" ]; then
  set -- $types
  shift $((TSR_TEST_TURN % $#))
  types=$1
fi

netlib=${TSR_NETLIB:-$(dirname "$(find /usr/lib* -name xblat3d 2>/dev/null | head -n 1)")}
if [ ! -x "$netlib/xblat3d" ]; then
  skip testers "xblat3d (libblas-test)"
  finish
  exit
fi
LD_LIBRARY_PATH=$netlib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# Their own sizes are smaller than any tile. With tiles of 7, 17 is three tiles, the last of 3.
if [ -n "$all_on" ]; then
  sizes='0 1 2 3 7 16 17 33 65' tile=16 counts=$all_on
else
  sizes='0 1 17' tile=7 counts=${TSR_TEST_DEVICES:-1 3}
fi

# Products that are emulated are not cut into tiles of a given extent, but blocks of triangles are so
# small that there are several.
if [ "$arithmetic" != native ]; then
  tile=
  TESSERA_ARITHMETIC=$arithmetic TESSERA_STRATEGY=any/block=5 TESSERA_CHECK=1
  export TESSERA_ARITHMETIC TESSERA_STRATEGY TESSERA_CHECK
fi

# The input of a tester with our sizes.
with_sizes() {
  many=$(echo "$sizes" | wc -w)
  sed -e "s/^.*NUMBER OF VALUES OF N *\$/$many NUMBER OF VALUES OF N/" \
    -e "s/^[0-9 ]* VALUES OF N *\$/$sizes VALUES OF N/" "$1" >input
  grep -q "^$sizes VALUES OF N" input && grep -q "^$many NUMBER" input
}

# What the reference prints when all is well, and nothing that it prints otherwise.
is_clean() { # result, how many routines
  ! grep -E 'FAIL|FATAL|SUSPECT|XERBLA|ABANDONED|\*\*\*\*' "$1" &&
    [ "$(grep -c 'PASSED THE TESTS OF ERROR-EXITS' "$1")" = "$2" ] &&
    [ "$(grep -c 'COMPUTATIONAL TESTS' "$1")" -ge "$2" ] && grep -q 'END OF TESTS' "$1"
}

tester() { # devices, type, program, input, result
  with_sizes "$netlib/$4" || {
    check "$3_input" false
    return
  }
  case $2 in
    s | d) routines=6 ;;
    *) routines=9 ;;
  esac
  rm -f "$5" report
  "$tessera" run --report-to "$work/report" --engine "$engine" --devices "$1" ${tile:+--tile "$tile"} \
    --offload always -- "$netlib/$3" <input >out 2>err
  [ "$5" = out ] || cat "$5" >>out
  check "$3_on_$1" is_clean out $routines
  check "$3_on_$1_planned" went_through_plans 500
}

# With few moduli the testers find wrong digits: so it is our products that they test.
has_wrong_digits() { grep -E -q 'FAIL|SUSPECT' "$1"; }
if [ "$arithmetic" = emulated ]; then
  with_sizes "$netlib/dblat3.in"
  TESSERA_ARITHMETIC=emulated:5 "$tessera" run --engine "$engine" --devices 1 --offload always -- \
    "$netlib/xblat3d" <input >out 2>err
  [ ! -f dblat3.out ] || cat dblat3.out >>out
  check few_moduli_are_found has_wrong_digits out
fi

for count in $counts; do
  for type in $types; do
    tester "$count" $type "xblat3$type" "${type}blat3.in" "${type}blat3.out"
    # The sample meets CBLAS, which is the slower half, on the last number of devices only.
    [ -z "$all_on" ] && [ "$count" != "${counts##* }" ] && continue
    tester "$count" $type "x${type}cblat3" "${type}in3" out
  done
done
finish
