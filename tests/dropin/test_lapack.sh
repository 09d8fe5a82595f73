#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# LAPACK's own testers over netlib's LAPACK and BLAS, with our doors before them: no test fails that
# does not fail without us. Arguments: the build folder; "all" for every type and the eigenvalue
# problems, "emulated" for the linear equations of every type with emulated products (else those of
# one type, natively); types (s d c z).
# Slow: 45 s of a core.
. "$(dirname "$0")/dropin.sh"
part=${2:-sample}
types=${3:-s d c z}
devices=${TSR_TEST_DEVICES:-3}

lapack=$(dirname "$(find /usr/lib* -path '*/lapack/xlintstd' 2>/dev/null | head -n 1)")
if [ ! -e "$lapack/liblapack.so.3" ] || [ ! -e "$lapack/../blas/libblas.so.3" ]; then
  skip "lapack" "xlintstd over netlib's libraries (liblapack-test, liblapack3, libblas3)"
  finish
  exit
fi
LD_LIBRARY_PATH=$lapack/../blas:$lapack
export LD_LIBRARY_PATH

# Tests that failed, by the summaries: "...: 3 out of 1234 tests failed to pass the threshold" and
# "... 3 error messages recorded".
failures() {
  awk '/ failed to pass/ { for (i = 1; i < NF; i++) if ($i == "out") sum += $(i - 1) }
       /error messages recorded/ { for (i = 1; i < NF; i++) if ($(i + 1) == "error") sum += $i }
       END { print sum + 0 }' "$1"
}
ended() { grep -q 'End of tests' "$1"; }
same() { [ "$(grep -c 'passed the' "$1")" = "$(grep -c 'passed the' "$2")" ]; }
no_more_failures() { [ "$(failures out)" -le "$(failures without)" ]; }

more_failures() { [ "$(failures out)" -gt "$(failures without)" ]; }

tester_without_checks() { # program, input file, least size to offload (none: every size)
  "$lapack/$1" <"$2" >without 2>&1
  rm -f report
  "$tessera" run --report-to "$work/report" --explain --engine "$engine" --devices "$devices" \
    --tile 16 --offload always ${3:+--min-size "$3"} -- "$lapack/$1" <"$2" >out 2>err
}

tester() { # name, program, input file, least size to offload (none: every size)
  tester_without_checks "$2" "$3" "${4:-}"
  check "$1_ends" ended out
  check "$1_passes_as_much" same out without
  check "$1_fails_no_more" no_more_failures
  check "$1_planned" went_through_plans 50
}

# The routines of LAPACK that have doors, at every size: of the tester's input the part before the
# list of families, and two of those, definite and triangular matrices.
cholesky() { # type
  upper=$(echo "$1" | tr sdcz SDCZ)
  { sed '/error exits/q' "$lapack/${1}test.in"; echo "${upper}PO 9"; echo "${upper}TR 18"; } >family.in
  tester "cholesky_$1" xlintst$1 family.in
  for routine in potrf potrs posv potri trtri trtrs; do
    check "cholesky_$1_$routine" grep -q "$1$routine" report
  done
}

if [ "$part" = all ]; then
  for type in $types; do
    tester "linear_$type" xlintst$type "$lapack/${type}test.in" 16
    for problem in nep sep svd; do
      tester "${problem}_$type" xeigtst$type "$lapack/$problem.in" 12
    done
  done
elif [ "$part" = emulated ]; then
  TESSERA_ARITHMETIC=emulated
  export TESSERA_ARITHMETIC
  for type in $types; do
    tester "linear_$type" xlintst$type "$lapack/${type}test.in" 40
  done
  # With so few moduli tests must fail: the products above were emulated, too.
  TESSERA_ARITHMETIC=emulated:5
  tester_without_checks xlintstd "$lapack/dtest.in" 40
  check few_moduli_fail more_failures
else
  for type in $types; do cholesky $type; done
  tester linear_d xlintstd "$lapack/dtest.in" 40
fi
finish
