#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Programs and tests that nobody here wrote, unmodified, on emulated devices: NumPy's tests of
# linear algebra, SciPy's of the BLAS, Octave, R, and HPL, whose residuals must pass. That their
# calls went through plans is read from the report. Argument: the build folder. What is not
# installed is skipped; tools/setup.sh with the pairs of .ci/run installs all of it.
# Slow: 40 s of a core.
. "$(dirname "$0")/dropin.sh"
programs=$root/tests/dropin/programs
python=/usr/bin/python3 # the system's, whose NumPy has the system's BLAS; then PyPI's

right() { [ "$code" = 0 ]; }

# ---- Python ----

has() { $python -c "import $1" >/dev/null 2>&1; }
tests_of() { # a Python package: where its tests are
  $python -c "import $1, os; print(os.path.dirname($1.__file__))"
}
# pytest's last line, without the time.
verdict() { tail -n 1 "$1" | sed 's/ in [0-9.]*s.*//'; }
all_passed() {
  verdict out | grep -q '[1-9][0-9]* passed' && ! verdict out | grep -qE '[0-9] (failed|error)'
}
same_as_without() { # what, least plans, test files
  what=$1 least=$2
  shift 2
  set -- $python -m pytest -q --noconftest -p no:cacheprovider -m 'not slow' "$@"
  "$@" >without 2>&1 </dev/null
  offloaded 3 16 "$@"
  check "${what}_as_without" test "$(verdict out)" = "$(verdict without)"
  check "${what}_passes" all_passed
  check "${what}_planned" went_through_plans "$least"
}

if has numpy; then
  offloaded 2 16 $python "$programs/products.py"
  check "python" right
  check "python_planned" went_through_plans 20
  offloaded 2 64 $python "$root/bench/pca.py" 1000 100 1
  check "pca" right
  check "pca_planned" went_through_plans 1
else
  skip "python" "NumPy (python3-numpy)"
fi
netlib_lapack=$(find /usr/lib* -path '*/lapack/liblapack.so.3' 2>/dev/null | head -n 1)
if has numpy && [ -n "$netlib_lapack" ]; then
  offloaded 3 64 $python "$root/bench/cholesky.py" "$netlib_lapack" 400
  check "cholesky" right
  check "cholesky_planned" went_through_plans 10
else
  skip "cholesky" "NumPy, or netlib's LAPACK (python3-numpy, liblapack3)"
fi
if has numpy.linalg.tests.test_linalg; then
  same_as_without "numpy" 1000 "$(tests_of numpy)/linalg/tests/test_linalg.py"
else
  skip "numpy" "NumPy with its tests, or no pytest (python3-pytest)"
fi
if has scipy.linalg.tests.test_blas; then
  of=$(tests_of scipy)/linalg/tests
  same_as_without "scipy" 100 "$of/test_blas.py" "$of/test_fblas.py" "$of/test_cython_blas.py"
else
  skip "scipy" "SciPy with its tests (python3-scipy)"
fi

# ---- Python's wheels, which carry a BLAS under names of its own ----

# Also without any other BLAS: in a namespace where the system's are not to be seen.
can_hide() { hiding true 2>/dev/null; }
wheels() { # name, folder
  carrier=$1
  python=$root/$2/bin/python
  if ! has numpy || ! has scipy; then
    skip "$carrier" "NumPy and SciPy of PyPI (sh tools/wheels.sh)"
    return
  fi
  offloaded 2 16 $python "$programs/products.py"
  check "$carrier" right
  check "${carrier}_planned" went_through_plans 20
  same_as_without "${carrier}_numpy" 1000 "$(tests_of numpy)/linalg/tests/test_linalg.py"
  of=$(tests_of scipy)/linalg/tests
  same_as_without "${carrier}_scipy" 100 "$of/test_blas.py" "$of/test_cython_blas.py"
  if can_hide; then
    for settings in TESSERA_OFFLOAD=never TESSERA_ENGINE=host; do
      hiding env "$settings" LD_PRELOAD="$doors" $python "$programs/carried.py" >out 2>err </dev/null
      code=$?
      check "${carrier}_alone_$settings" right
    done
  else
    skip "${carrier}_alone" "namespace of mounts (unshare)"
  fi
}
wheels wheels build-wheels
wheels wheels_1 build-wheels-1

# ---- Octave and R ----

if command -v octave-cli >/dev/null; then
  offloaded 3 16 octave-cli --norc "$programs/products.m"
  check "octave" right
  check "octave_planned" went_through_plans 3
else
  skip "octave" "octave-cli (octave)"
fi
if command -v Rscript >/dev/null; then
  offloaded 3 16 Rscript --vanilla "$programs/products.R"
  check "r" right
  check "r_planned" went_through_plans 5
else
  skip "r" "Rscript (r-base-core)"
fi

# ---- HPL ----

hpl_input() { # processes
  sed -e 's/^[0-9 ]* Ns$/300 Ns/' -e 's/^[0-9 ]* NBs$/32 NBs/' -e 's/^[0-9 ]* Ps$/1 Ps/' \
    -e "s/^[0-9 ]* Qs\$/$1 Qs/" /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
  rm -f hpccoutf.txt
}
hpl_passes() {
  grep 'Ax-b' hpccoutf.txt | grep -q PASSED && ! grep FAILED hpccoutf.txt &&
    grep -q '^Success=1' hpccoutf.txt
}
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
if command -v hpcc >/dev/null && [ -e /usr/share/doc/hpcc/examples/_hpccinf.txt ]; then
  hpl_input 1
  offloaded 3 16 hpcc
  check "hpl" hpl_passes
  check "hpl_planned" went_through_plans 50
else
  skip "hpl" "hpcc"
fi
if command -v hpcc >/dev/null && command -v mpirun >/dev/null; then
  hpl_input 2
  offloaded 2 16 mpirun --oversubscribe -n 2 hpcc
  check "hpl_two_processes" hpl_passes
  check "hpl_two_processes_planned" went_through_plans 50
else
  skip "hpl_two_processes" "mpirun"
fi
finish
