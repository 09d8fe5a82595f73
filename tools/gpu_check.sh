#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Builds, tests and measures on a machine with GPUs, in one go; a short table comes last.
#
#   DEPS            folder of unpacked packages (tools/fetch_deps.sh), used where it exists: .deps
#   BUILD           build folder: build-gpu
#   GPU_CHECK_OUT   logs and CSV: out
#   GPU_CHECK_STEPS which steps: build machine tests random placements peer memcheck doors
#                   testers emulated bench level3 papers summa four hip; peer runs tests and random problems as if no GPU
#                   reached another one, and with two GPUs or more measures products both ways;
#                   emulated computes products natively, emulated and in the way that is predicted
#                   to be faster, and runs netlib's and LAPACK's testers with emulation forced; level3 is
#                   bench/level3.py on one GPU, after the ways of symm, hemm and trmm; papers is
#                   bench/tiles.py and bench/ablation.py; summa is bench/summa.py, where there is an mpirun (MPIRUN: its words); four is
#                   bench/four.py, where there are four GPUs; hip is the HIP engine over CUDA
#                   (tests/hip/nvidia), in a build of its own, BUILD-hip
#   GPU_CHECK_N     sizes of the benchmark: 8192,16384,32768
#   GPU_CHECK_COUNT random problems: 300
#   GPU_CHECK_SECONDS for the steps four (540) and level3 (200); run them again for what is left
set -u
cd "$(dirname "$0")/.." || exit 1
deps=${DEPS:-.deps}
build=${BUILD:-build-gpu}
out=${GPU_CHECK_OUT:-out}
steps=${GPU_CHECK_STEPS:-build machine tests random placements peer memcheck doors testers emulated bench level3 papers summa four hip}
sizes=${GPU_CHECK_N:-8192,16384,32768}
count=${GPU_CHECK_COUNT:-300}
mkdir -p "$out"

if [ -d "$deps/usr" ]; then
  deps=$(cd "$deps" && pwd)
  libraries=$deps/usr/lib/x86_64-linux-gnu
  export PATH="$PATH:$deps/usr/bin"
  export PKG_CONFIG_PATH="$libraries/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
  export LD_LIBRARY_PATH="$libraries:$libraries/openblas-pthread${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export CMAKE_PREFIX_PATH="$deps/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
else
  sh tools/setup.sh --tests || exit 1
fi
# OpenBLAS 0.3.21 takes its oldest kernels (Prescott) where it does not know a virtual machine's
# processor. They are slow, and a dgemm of 96 x 96 in a forked child crashed in them (movapd to an
# address that is no multiple of 16), under the doors of any version of Tessera.
if grep -qw avx2 /proc/cpuinfo; then export OPENBLAS_CORETYPE="${OPENBLAS_CORETYPE:-Haswell}"; fi
export PATH="$PATH:/usr/local/cuda/bin"
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$PWD/$build/cache}"
mkdir -p "$XDG_CACHE_HOME"

gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" = 0 ]; then
  echo "There is no GPU here (nvidia-smi -L lists none)." >&2
  exit 1
fi
devices=$(for n in 1 2 4 8; do [ "$n" -le "$gpus" ] && echo "$n"; done | paste -sd,)

table=()
bad=0
step() { # name, then the command
  local name=$1 begin=$SECONDS verdict=passed
  shift
  case " $steps " in *" ${name%%-*} "*) ;; *) return 0 ;; esac
  "$@" >"$out/$name.log" 2>&1 || verdict=FAILED
  [ "$verdict" = passed ] || bad=$((bad + 1))
  local sum
  sum=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out/$name.log" | tail -n 1)
  table+=("$(printf '%-14s %-7s %5d s  %s' "$name" "$verdict" $((SECONDS - begin)) "$sum")")
  echo "${table[-1]}"
  if [ "$verdict" = FAILED ]; then tail -n 30 "$out/$name.log" | cut -c 1-400; fi
}

build_all() {
  cmake --preset release -B "$build" && cmake --build "$build" -j "$(nproc)" &&
    ls "$build"/lib/libtessera_cuda*
}
tests() { # the programs that can use a real engine
  JOBS=1 TSR_TEST_ENGINE=cuda sh tools/run_tests.sh "$build" -R '^(engine_|front_|probe_|run_)'
}
# Without peer access. On one GPU no copy goes from GPU to GPU, so that this shows only that the
# setting does no harm; on two or more, all copies between GPUs go by host memory.
peer_tests() {
  JOBS=1 TSR_TEST_ENGINE=cuda TSR_TEST_PEER=0 sh tools/run_tests.sh "$build" -R '^front_'
}
peer_random() {
  TESSERA_PEER=0 "$build/tests/random_driver" --engine cuda --devices "${devices##*,}" --seed 6 \
    --count "$count"
}
peer_bench() { # all operands on GPU 0, and in host memory: with peer access, then without
  local peer homes
  rm -f "$out"/bench-peer*.csv
  for peer in 1 0; do
    for homes in p,p,p 0,0,0; do
      echo "TESSERA_PEER=$peer"
      TESSERA_PEER=$peer "$build/bin/tessera" bench --engine cuda --n "$sizes" --home "$homes" \
        --devices "${devices##*,}" --peer none --details --csv "$out/bench-peer$peer.csv" || return 1
    done
  done
}
sanitized() {
  compute-sanitizer --tool memcheck --leak-check no --error-exitcode 9 \
    "$build/tests/random_driver" --engine cuda --devices 1 --seed 3 --count 12
}
doors() { # a program that knows nothing of us, then what its calls cost and gain
  local calls=$build/tests/dropin_calls way
  for way in plain threads forks busy_fork hasty closed; do
    [ -x "$calls" ] || break
    timeout 120 "$build/bin/tessera" run --report-to "$out/doors-report.log" --offload always -- \
      "$calls" $way || return 1
  done
  local n cases=()
  for n in 1 32 64 256 1024 2048 4096 ${sizes//,/ }; do
    cases+=("gemm d $n $n $n home=u by=door peer=blas sample=0.005 settle=6 turn=$n"
      "gemm d $n $n $n home=u sample=0.005 turn=$n")
  done
  "$build/bench/tessera-bench" --rate-seconds 0 --repeat 5 "${cases[@]}"
}
types_pass() { # a name for the logs, then a tester and its arguments; TYPE in them becomes each type, side by side
  local name=$1 type bad=0
  shift
  for type in s d c z; do
    TSR_TEST_ENGINE=cuda TSR_NETLIB=${libraries:+$libraries/blas} sh "${@/TYPE/$type}" >"$out/$name-$type.log" 2>&1 &
  done
  wait
  for type in s d c z; do
    cat "$out/$name-$type.log"
    grep -q ' passed, 0 failed$' "$out/$name-$type.log" || bad=1
  done
  return $bad
}
testers() { # netlib's, of the BLAS and of CBLAS, on as many devices as there are
  types_pass testers tests/dropin/test_testers.sh "$build" "${devices##*,}" TYPE
}
emulated_testers() { # netlib's and, where they are installed, LAPACK's of linear equations, on one GPU
  TSR_TEST_DEVICES=1 types_pass emulated tests/dropin/test_testers.sh "$build" - TYPE emulated &&
    TSR_TEST_DEVICES=1 types_pass emulated-lapack tests/dropin/test_lapack.sh "$build" emulated TYPE
}
emulated() { # on one GPU, operands resident and in pinned host memory; the driver checks every result
  local type n arithmetic memory cases=()
  "$build/bench/tessera-bench-errors" --engine cuda --devices 1 >"$out/errors.csv" || return 1
  "$build/bench/tessera-bench-judging" --engine cuda --extents 1024,2048,4096,8192 \
    >"$out/judging.csv" || return 1
  TSR_TEST_ENGINE=cuda TSR_TEST_ONLY=overlaps_decide_in_parts TSR_TEST_LINES=2100 \
    "$build/tests/engine_test_residues" || return 1
  rm -f "$out"/bench-{native,emulated,auto,emulated-4G,emulated-1G}.csv
  for type in d s c z; do
    for n in 2048 4096 8192 16384; do cases+=("gemm $type $n $n $n home=0,0,0"); done
    cases+=("gemm $type 16384 16384 16384 home=p,p,p")
  done
  cases+=("gemm d 10007 511 10007 home=0,0,0" "gemm d 4096 4096 65536 home=0,0,0"
    "gemm s 30000 1000 30000 home=0,0,0")
  for arithmetic in native emulated auto; do
    echo "TESSERA_ARITHMETIC=$arithmetic"
    TESSERA_ARITHMETIC=$arithmetic "$build/bench/tessera-bench" --devices 1 --details \
      --csv "$out/bench-$arithmetic.csv" "${cases[@]}" || return 1
  done
  for memory in 4G 1G; do # residues of 16384 do not fit together: they are dropped and made again
    echo "TESSERA_ARITHMETIC=emulated TESSERA_MEMORY=$memory"
    TESSERA_ARITHMETIC=emulated TESSERA_MEMORY=$memory "$build/bench/tessera-bench" --devices 1 \
      --details --csv "$out/bench-emulated-$memory.csv" "gemm d 16384 16384 16384 home=p,p,p" \
      "gemm s 16384 16384 16384 home=p,p,p" || return 1
  done
}
bench() {
  local homes
  rm -f "$out"/bench-*.csv
  for homes in p,p,p h,h,h; do
    "$build/bin/tessera" bench --engine cuda --n "$sizes" --home "$homes" --devices "$devices" \
      --peer cublasxt --csv "$out/bench-${homes//,/}.csv" || return 1
    [ "${GPU_CHECK_PAGEABLE:-0}" = 1 ] || break
  done
}
four() {
  BUILD=$build python3 bench/four.py --csv "$out/four.csv" --resume --seconds "${GPU_CHECK_SECONDS:-540}"
}
level3() {
  "$build/bench/tessera-bench-routines" --engine cuda >"$out/routines.csv" || return 1
  BUILD=$build python3 bench/level3.py --csv "$out/level3.csv" --resume --seconds "${GPU_CHECK_SECONDS:-200}"
}
# Sizes of tiles by three models beside measurement, and what each technique is worth (docs/papers).
papers() {
  BUILD=$build python3 bench/tiles.py --engine cuda --type s --n 16384 --devices "$devices" --repeat 3 \
    --csv "$out/tiles.csv" --force || return 1
  BUILD=$build python3 bench/ablation.py --engine cuda --n 8192,10007,16384 --devices "${devices##*,}" \
    --repeat 5 --csv "$out/ablation.csv" --force
}
# One CPU, one GPU, rows over processes, and SUMMA by hand: as many processes as a square has, on all GPUs.
mpi_env=()
if [ -x "$deps/usr/bin/mpirun.openmpi" ]; then # not where it was built for; the build must not see this
  mpi_env=(env "OPAL_PREFIX=$deps/usr" "PMIX_INSTALL_PREFIX=$deps/usr"
    "LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$libraries/openmpi/lib:$libraries/pmix2/lib")
  launcher=$deps/usr/bin/mpirun.openmpi
fi
mpirun=${MPIRUN:-${launcher:-mpirun} --allow-run-as-root --oversubscribe --bind-to none --mca pml ob1
  --mca btl self,vader}
has_summa() { [ -x "$build/examples/summa" ] && command -v "${mpirun%% *}" >/dev/null; }
summa() {
  BUILD=$build "${mpi_env[@]}" python3 bench/summa.py --engine cuda --mpirun "$mpirun" --n "${sizes%%,*},16384" --block 1024 \
    --csv "$out/summa.csv" --force
}
hip_summa() {
  # shellcheck disable=SC2086 # words
  TESSERA_ENGINE=hip "${mpi_env[@]}" $mpirun -n 4 "$build-hip/examples/summa" "${sizes%%,*}"
}
# The HIP engine on an NVIDIA GPU.
build_hip() {
  cmake --preset release -B "$build-hip" -DTESSERA_HIP_NVIDIA=ON -DTESSERA_PYTHON=OFF \
    -DTESSERA_FORTRAN=OFF -DTESSERA_STATIC=OFF && cmake --build "$build-hip" -j "$(nproc)" &&
    ls "$build-hip"/lib/libtessera_hip* "$build-hip"/lib/hip-nvidia
}
hip_tests() {
  JOBS=1 TSR_TEST_ENGINE=hip sh tools/run_tests.sh "$build-hip" -R '^(engine_|front_|probe_|run_)'
}
# The same with kernels that are compiled at run time, by NVRTC in place of hiprtc.
hip_compile() {
  local test
  for test in engine_test_engine engine_test_kernels engine_test_residues; do
    TSR_HIP_COMPILE=1 TSR_TEST_ENGINE=hip TESSERA_LOG=info "$build-hip/tests/$test" || return 1
  done
}
# Emulated products of the HIP engine: the error on hard data, rates, and netlib's tester with emulation
# forced. The bits are compared with the CPU's by hip-tests (engine_test_residues).
hip_emulated() {
  local type n arithmetic cases=()
  "$build-hip/bench/tessera-bench-errors" --engine hip --devices 1 >"$out/hip-errors.csv" || return 1
  for type in d s; do
    for n in 4096 8192 16384; do cases+=("gemm $type $n $n $n home=0,0,0"); done
  done
  cases+=("gemm z 8192 8192 8192 home=0,0,0" "gemm d 16384 16384 16384 home=p,p,p")
  rm -f "$out"/bench-hip-{native,emulated,auto}.csv
  for arithmetic in native emulated auto; do
    echo "TESSERA_ARITHMETIC=$arithmetic"
    TESSERA_ENGINE=hip TESSERA_ARITHMETIC=$arithmetic "$build-hip/bench/tessera-bench" --devices 1 \
      --details --csv "$out/bench-hip-$arithmetic.csv" "${cases[@]}" || return 1
  done
  TESSERA_ARITHMETIC=emulated TSR_TEST_ENGINE=hip TSR_NETLIB=${libraries:+$libraries/blas} \
    sh tests/dropin/test_testers.sh "$build-hip" 1 d | tee "$out/hip-emulated-d.log"
  grep -q ' passed, 0 failed$' "$out/hip-emulated-d.log"
}
hip_engines() {
  BUILD=$build-hip python3 bench/engines.py --csv "$out/engines.csv" --force
}

step build build_all
step machine "$build/bin/tessera" machine --engine cuda --probe
step tests tests
for n in ${devices//,/ }; do
  step "random-$n" "$build/tests/random_driver" --engine cuda --devices "$n" --seed "$n" --count "$count"
done
step placements "$build/tests/random_driver" --engine cuda --placements --devices "$devices"
step peer-tests peer_tests
step peer-random peer_random
if [ "$gpus" -gt 1 ]; then step peer-bench peer_bench; fi
if command -v compute-sanitizer >/dev/null; then step memcheck sanitized; fi
step doors doors
step testers testers
step emulated emulated
step emulated-testers emulated_testers
step bench bench
step level3 level3
step papers papers
has_summa && step summa summa
[ "$gpus" -lt 4 ] || step four four
step hip-build build_hip
step hip-tests hip_tests
step hip-compile hip_compile
step hip-random "$build-hip/tests/random_driver" --engine hip --devices 1 --seed 5 --count "$count"
step hip-emulated hip_emulated
step hip-engines hip_engines
has_summa && step hip-summa hip_summa

echo
echo "$gpus x $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
printf '%s\n' "${table[@]}"
for csv in "$out"/bench-*.csv "$out"/engines.csv "$out"/summa.csv; do
  if [ -f "$csv" ]; then echo && tr , "\t" <"$csv"; fi
done
exit $((bad > 0))
