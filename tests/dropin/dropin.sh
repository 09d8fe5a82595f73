# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# What the tests of unmodified programs share; sourced. Beside what all scripts do it reads the report
# that the doors write: programs may succeed without ever having come through us. TSR_TEST_ENGINE:
# what the calls are offloaded to (host). TSR_TEST_DEVICES: on how many devices of it the testers of
# BLAS and LAPACK run (each has its own numbers).
. "$(dirname "$0")/../cases.sh"
doors=$build/lib/libtessera_blas.so.0.2
engine=${TSR_TEST_ENGINE:-host}
# Threads of the BLAS would only queue up behind the emulated devices.
OPENBLAS_NUM_THREADS=1
OMP_NUM_THREADS=1
export OPENBLAS_NUM_THREADS OMP_NUM_THREADS

# Runs a program with every call offloaded; leaves $code, out, err and report.
offloaded() { # devices, tile, then the program
  devices=$1 tile=$2
  shift 2
  rm -f report
  "$tessera" run --report-to "$work/report" --engine "$engine" --devices "$devices" \
    --tile "$tile" --offload always -- "$@" >out 2>err </dev/null
  code=$?
}

# The sum over all reports of the calls that went through a plan.
planned() {
  awk '/(level-3 BLAS|LAPACK) calls?: / { sub(/.*calls?: /, ""); sum += $1 }
       END { print sum + 0 }' report 2>/dev/null
}

went_through_plans() { # at least so many
  [ "$(planned)" -ge "$1" ]
}

# Runs a program where no BLAS of the system can be loaded: /dev/null is mounted over each.
hiding() {
  unshare --mount --map-root-user sh -c '
    for f in $(ldconfig -p | awk "/lib(cblas|blas|openblas|blis|flexiblas|mkl)[^ ]*[.]so/ { print \$NF }"); do
      mount --bind /dev/null "$(readlink -f "$f")" || exit 125
    done
    exec "$@"' sh "$@"
}
