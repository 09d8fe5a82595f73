#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Kernels that are compiled at run time: compile.sh BUILD CODE KERNELS...
# CODE: what hipcc made of the source for run time. KERNELS: the kernels for the CPU (object files), which
# are those that are launched.
. "$(dirname "$0")/../cases.sh"
code_alone=$2
hip=$build/tests/hip
shift 2
nm "$@" | sed -n 's/.* \(_ZN7tsr_gpu[0-9]*[a-z_]*_kernel[IE].*\)$/\1/p' | sort -u >launched

# names FILE: the kernels of a GPU's code.
names() {
  readelf -sW "$1" | sed -n 's/.* \(_ZN7tsr_gpu[^ ]*\)\.kd$/\1/p' | sort -u
}
same_kernels() {
  names "$1" >asked
  [ -s launched ] && diff launched asked
}
check "the source for run time has the kernels that are launched, and no others" same_kernels "$code_alone"

# ROCm's own compiler, where it is installed.
real() {
  "$build/tests/hip_real_compiler" "$1" code >out 2>err
  code=$?
  [ "$code" = 0 ] && readelf -hW code | grep -q "Flags:.*$1" && same_kernels code
}
"$build/tests/hip_real_compiler" gfx90a code >out 2>err
if [ $? = 77 ]; then
  skip "the real hiprtc" "libamdhip64.so of ROCm: $(cat err)"
else
  for architecture in gfx906 gfx90a gfx1030; do
    check "the real hiprtc compiles the kernels for $architecture" real $architecture
  done
fi

# Over the runtime for tests, whose devices have an architecture that the build does not know.
TSR_HIP_ARCH=gfx942:sramecc+:xnack- TSR_HIPRTC_LOG=$work/compilations TSR_TEST_ENGINE=hip
export TSR_HIP_ARCH TSR_HIPRTC_LOG TSR_TEST_ENGINE
run() { # over the release $1
  LD_LIBRARY_PATH=$hip/rocm$1 TSR_TEST_ONLY=test_compute "$build/tests/engine_test_kernels" \
    >out 2>err
  code=$?
  [ "$code" = 0 ] && grep -q "OK.*test_compute" out err
}
compilations() { # since the last time
  seen=$(cat compilations 2>/dev/null | wc -l)
  rm -f compilations
  [ "$seen" = "$1" ]
}
for rocm in 5 6 7; do
  check "ROCm $rocm: the tests of kernels, with those that are compiled now" run $rocm
  check "ROCm $rocm: they were compiled once for all devices" compilations 1
  check "ROCm $rocm: the same with what the cache has" run $rocm
  check "ROCm $rocm: nothing was compiled" compilations 0
done
check "the cache has a file for each release" \
  [ "$(ls cache/tessera | grep -c '^hip-gfx942_sramecc__xnack_-[567].*\.co$')" = 3 ]
check "nothing else is left there" [ "$(ls cache/tessera | grep -c '^hip-')" = 3 ]

for file in cache/tessera/hip-*; do echo "no code" >"$file"; done
check "a file that is no code is replaced" run 6
check "by one that was compiled" compilations 1
check "and then read" run 6
check "without a compilation" compilations 0

XDG_CACHE_HOME=/dev/null HOME=/dev/null XDG_RUNTIME_DIR=/dev/null run 6
check "without a cache that can be written all works" [ "$code" = 0 ]
check "and is compiled by each process" compilations 1

# What is said where it does not work.
gemm() {
  LD_LIBRARY_PATH=$libraries XDG_CACHE_HOME=$work/none TESSERA_LOG=error \
    "$tessera" machine --engine hip >out 2>err
  code=$?
  [ "$code" != 0 ] && cat err && grep -q "$1" err
}
mkdir lacks
ln -s "$hip"/rocm6/libamdhip64.so.6 "$hip"/rocm6/librocblas.so.4 lacks
libraries=$work/lacks
check "a missing hiprtc is told, with the remedy" \
  gemm "no kernels for gfx942:.*libhiprtc.so.6 is not found; install it.*ARCHITECTURES=gfx942\$"
libraries=$hip/rocm6
export TSR_HIPRTC_FAIL="no such target"
check "a failure to compile is told, with the remedy" \
  gemm "fails to make kernels for gfx942:.*HIPRTC_ERROR_COMPILATION; TESSERA_LOG=error"
check "with the compiler's messages in the log" grep -q "hiprtc: .*error: no such target" err
finish
