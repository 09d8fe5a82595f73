#!/bin/bash
# Products across processes on a machine with GPUs: DGEMM from pinned host memory, on 2 x 1, 4 x 1
# and 2 x 2 processes x GPUs as there are GPUs, with panels by NCCL and by MPI, against one process
# with all GPUs; before that random problems on real devices. Results are checked. A short table
# comes last. Under 150 s for two GPUs.
#
#   DEPS              folder of unpacked packages (tools/fetch_deps.sh), used where it exists: .deps
#   BUILD             build folder, built when it is not there: build-gpu
#   PGEMM_GPU_OUT     logs and CSV: out
#   PGEMM_GPU_N       extents: 16384 32768
#   PGEMM_GPU_REPEAT  warm products, of which the median counts: 3
#   PGEMM_GPU_BLOCK   blocks in which the matrices are dealt: 1024
#   PGEMM_GPU_COUNT   random problems for each transport: 16
#   MPIRUN            how processes are started: mpirun --allow-run-as-root --oversubscribe
#                     --bind-to none
set -u
cd "$(dirname "$0")/.." || exit 1
deps=${DEPS:-.deps}
build=${BUILD:-build-gpu}
out=${PGEMM_GPU_OUT:-out}
sizes=${PGEMM_GPU_N:-16384 32768}
repeat=${PGEMM_GPU_REPEAT:-3}
block=${PGEMM_GPU_BLOCK:-1024}
count=${PGEMM_GPU_COUNT:-16}
start=${MPIRUN:-mpirun --allow-run-as-root --oversubscribe --bind-to none}
mkdir -p "$out"

if [ -d "$deps/usr" ]; then
  deps=$(cd "$deps" && pwd)
  libraries=$deps/usr/lib/x86_64-linux-gnu
  export PATH="$PATH:$deps/usr/bin"
  export PKG_CONFIG_PATH="$libraries/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
  export LD_LIBRARY_PATH="$libraries:$libraries/openblas-pthread${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export CMAKE_PREFIX_PATH="$deps/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
fi
export PATH="$PATH:/usr/local/cuda/bin"
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$PWD/$build/cache}"
export NCCL_NVLS_ENABLE=0

gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -lt 2 ]; then
  echo "Two GPUs are needed here; nvidia-smi -L lists $gpus." >&2
  exit 1
fi

table=()
bad=0
note() { table+=("$(printf '%-6s %-12s %-5s %10s %9s %8s  %s' "$@")"); }
step() { # name, then the command
  local name=$1 begin=$SECONDS verdict=passed
  shift
  "$@" >"$out/pgemm-$name.log" 2>&1 || verdict=FAILED
  echo "$name: $verdict, $((SECONDS - begin)) s"
  [ "$verdict" = passed ] && return 0
  bad=$((bad + 1))
  tail -n 30 "$out/pgemm-$name.log" | cut -c 1-400
  return 1
}

build_all() {
  cmake --preset release -B "$build" && cmake --build "$build" -j "$(nproc)"
}
if [ ! -x "$build/bin/tessera-pgemm" ]; then step build build_all || exit 1; fi
for file in bin/tessera-pgemm lib/libtessera_cuda.so lib/libtessera_nccl.so tests/dist_driver; do
  if [ ! -e "$build/$file" ]; then
    echo "$build/$file was not built: CMake tells which of CUDA, MPI and NCCL it did not find" >&2
    exit 1
  fi
done
mkdir -p "$XDG_CACHE_HOME"
ls "$XDG_CACHE_HOME"/tessera/*.json >/dev/null 2>&1 ||
  step machine timeout 100 "$build/bin/tessera" machine --engine cuda --probe

random() { # transport
  # shellcheck disable=SC2086 # words
  TESSERA_TRANSPORT=$1 timeout 120 $start -n 2 "$build/tests/dist_driver" --engine cuda \
    --transport "$1" --seed 9 --first 3 --count "$count"
}
for transport in nccl mpi; do
  step "random-$transport" random $transport
  note - "2 x 1 random" $transport - - - \
    "$(grep -E '^[0-9]+ passed' "$out/pgemm-random-$transport.log" | tail -n 1)"
done

measure() { # processes, GPUs in all, N, transport
  # shellcheck disable=SC2086 # words
  TESSERA_TRANSPORT=$4 timeout 120 $start -n "$1" "$build/bin/tessera" bench pgemm --engine cuda \
    --mode strong --processes "$1" --devices "$2" --n "$3" --block "$block" --repeat "$repeat" \
    --csv "$out/pgemm-$1x$2-$3-$4.csv"
}
field() { # processes, GPUs, N, transport, column
  tail -n +2 "$out/pgemm-$1x$2-$3-$4.csv" 2>/dev/null | cut -d, -f "$5"
}
row() { # processes, GPUs, N, transport, GFLOP/s of one process
  local rate seconds right
  rate=$(field "$1" "$2" "$3" "$4" 11)
  seconds=$(field "$1" "$2" "$3" "$4" 9)
  right=$(field "$1" "$2" "$3" "$4" 13)
  note "$3" "$1 x $(($2 / $1))" "$(field "$1" "$2" "$3" "$4" 14)" "${seconds:--}" \
    "$(awk -v r="${rate:-0}" 'BEGIN { printf "%.1f", r / 1000 }')" \
    "$(awk -v r="${rate:-0}" -v one="${5:-0}" 'BEGIN { if (one > 0) printf "%.3f", r / one; else printf "-" }')" \
    "$([ "$right" = 1 ] && echo right || echo FAILED) (predicted $(field "$1" "$2" "$3" "$4" 10) s)"
}

shapes="2:2"
[ "$gpus" -ge 4 ] && shapes="2:2 4:4 2:4"
for n in $sizes; do
  for all in $(for s in $shapes; do echo "${s#*:}"; done | sort -un); do
    step "1x$all-$n-auto" measure 1 "$all" "$n" auto
    one=$(field 1 "$all" "$n" auto 11)
    row 1 "$all" "$n" auto "$one"
    for shape in $shapes; do
      [ "${shape#*:}" = "$all" ] || continue
      for transport in nccl mpi; do
        step "${shape%:*}x$all-$n-$transport" measure "${shape%:*}" "$all" "$n" $transport
        row "${shape%:*}" "$all" "$n" $transport "$one"
      done
    done
  done
done

echo
echo "$gpus x $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1), $SECONDS s in all"
printf '%-6s %-12s %-5s %10s %9s %8s  %s\n' N "ranks x GPUs" by seconds TFLOP/s "of one" result
printf '%s\n' "${table[@]}"
exit $((bad > 0))
