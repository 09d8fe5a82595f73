#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Products across processes on a machine with GPUs, with what was built before: DGEMM from pinned
# host memory, on 2 x 1 processes x GPUs (two GPUs), or 4 x 1 and 2 x 2 (four), with panels by NCCL
# and by MPI, against one process with all GPUs; and random problems on real devices. Results are
# checked. What fails does not keep the rest from being tried; what has no time left is left out. A
# short table comes last, the ratios at its end. Exit status: 0, all passed; 1, not all.
#
#   cmake --preset release -B build-gpu && cmake --build build-gpu -j && bench/pgemm_gpu.sh
#
#   DEPS              folder of unpacked packages (tools/fetch_deps.sh), used where it exists: .deps
#   BUILD             build folder: build-gpu
#   PGEMM_GPU_OUT     logs and CSV: out
#   PGEMM_GPU_SECONDS for all of it: 150
#   PGEMM_GPU_N       extents: 16384 32768
#   PGEMM_GPU_REPEAT  warm products, of which the median counts: 3
#   PGEMM_GPU_BLOCK   blocks in which the matrices are dealt: 1024
#   PGEMM_GPU_COUNT   random problems for each transport: 8
#   PGEMM_GPU_BY      how panels travel: nccl,mpi
#   PGEMM_GPU_SHAPES  processes:GPUs in all: 2:2, or 4:4 2:4
#   PGEMM_GPU_ENGINE  cuda; host: emulated devices, to try the script itself
#   MPIRUN            how processes are started: mpirun --allow-run-as-root --oversubscribe
#                     --bind-to none --mca pml ob1 --mca btl self,vader
set -u
cd "$(dirname "$0")/.." || exit 1
deps=${DEPS:-.deps}
build=${BUILD:-build-gpu}
out=${PGEMM_GPU_OUT:-out}
all_seconds=${PGEMM_GPU_SECONDS:-150}
sizes=${PGEMM_GPU_N:-16384 32768}
repeat=${PGEMM_GPU_REPEAT:-3}
block=${PGEMM_GPU_BLOCK:-1024}
count=${PGEMM_GPU_COUNT:-8}
engine=${PGEMM_GPU_ENGINE:-cuda}
mkdir -p "$out"

if [ -d "$deps/usr" ]; then
  deps=$(cd "$deps" && pwd)
  libraries=$deps/usr/lib/x86_64-linux-gnu
  export PATH="$PATH:$deps/usr/bin"
  export LD_LIBRARY_PATH="$libraries:$libraries/openblas-pthread${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  if [ -x "$deps/usr/bin/mpirun.openmpi" ]; then # not where it was built for
    export OPAL_PREFIX=$deps/usr PMIX_INSTALL_PREFIX=$deps/usr
    export LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$libraries/openmpi/lib:$libraries/pmix2/lib"
    launcher=$deps/usr/bin/mpirun.openmpi
  fi
fi
start=${MPIRUN:-${launcher:-mpirun} --allow-run-as-root --oversubscribe --bind-to none --mca pml ob1
  --mca btl self,vader}
export PATH="$PATH:/usr/local/cuda/bin"
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$PWD/$build/cache}"
export NCCL_NVLS_ENABLE=0

if [ "$engine" = cuda ]; then
  gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
  name=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
else
  gpus=4 name="emulated device"
fi
if [ "$gpus" -lt 2 ]; then
  echo "Two GPUs are needed here; nvidia-smi -L lists $gpus." >&2
  exit 1
fi
shapes="2:2"
[ "$gpus" -ge 4 ] && shapes="4:4 2:4"
shapes=${PGEMM_GPU_SHAPES:-$shapes}
needed="bin/tessera bench/tessera-bench-mpi tests/cluster_driver"
[ "$engine" != cuda ] || needed="$needed lib/libtessera_cuda.so.0.2 lib/libtessera_nccl.so.0.2"
for file in $needed; do
  [ -e "$build/$file" ] && continue
  echo "$build/$file is not there: build first (BUILD names the folder); CMake tells which of" \
    "CUDA, MPI and NCCL it did not find" >&2
  exit 1
done
mkdir -p "$XDG_CACHE_HOME"

table=()
bad=0
note() { table+=("$(printf '%-6s %-12s %-5s %10s %9s %s  %8s' "$@")"); }
step() { # name, most seconds, then the command; 2: there was no time
  local name=$1 most=$2 begin=$SECONDS left=$((all_seconds - SECONDS)) verdict=passed
  shift 2
  if [ "$left" -lt 8 ]; then
    echo "$name: left out, no time"
    bad=$((bad + 1))
    return 2
  fi
  timeout -k 5 $((most < left ? most : left)) "$@" >"$out/pgemm-$name.log" 2>&1 </dev/null ||
    verdict="FAILED ($?)"
  echo "$name: $verdict, $((SECONDS - begin)) s"
  [ "$verdict" = passed ] && return 0
  bad=$((bad + 1))
  grep -v '^-*$' "$out/pgemm-$name.log" | tail -n 12 | cut -c 1-300
  return 1
}

if [ "$engine" = cuda ] && ! ls "$XDG_CACHE_HOME"/tessera/*.json >/dev/null 2>&1; then
  step machine 60 "$build/bin/tessera" machine --engine cuda --probe
fi

random() { # transport
  local forced=
  [ "$1" = mpi ] && forced=mpi # by NCCL go those with devices, of themselves
  # shellcheck disable=SC2086 # words
  TESSERA_TRANSPORT=$forced step "random-$1" 30 $start -n 2 "$build/tests/cluster_driver" \
    --engine "$engine" --transport "$1" --seed 9 --first 3 --count "$count"
  note - "2 x 1 random" "$1" - - \
    "$(grep -E '^[0-9]+ passed' "$out/pgemm-random-$1.log" 2>/dev/null | tail -n 1)" -
}

measure() { # processes, GPUs in all, N, transports
  local by cases=()
  for by in ${4//,/ }; do cases+=("pgemm d $3 $3 $3 transport=$by"); done
  # shellcheck disable=SC2086 # words
  TESSERA_LOG=info step "$1x$2-$3" 70 $start -n "$1" "$build/bench/tessera-bench-mpi" \
    "${cases[@]:-pgemm d $3 $3 $3}" --engine "$engine" --devices "$2" --block "$block" \
    --repeat "$repeat" --csv "$out/pgemm-$1x$2-$3.csv"
}
field() { # processes, GPUs, N, transport, column
  awk -F, -v by="$4" -v name="$5" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
    $NF == by { print $column }' "$out/pgemm-$1x$2-$3.csv" 2>/dev/null
}
row() { # processes, GPUs, N, transport, GFLOP/s of one process
  local rate right
  rate=$(field "$1" "$2" "$3" "$4" gflops)
  right=$(field "$1" "$2" "$3" "$4" right)
  if [ -z "$rate" ]; then
    note "$3" "$1 x $(($2 / $1))" "$4" - - failed -
    return
  fi
  note "$3" "$1 x $(($2 / $1))" "$4" "$(field "$1" "$2" "$3" "$4" median_s)" \
    "$(awk -v r="$rate" 'BEGIN { printf "%.1f", r / 1000 }')" \
    "$([ "$right" = 1 ] && echo right || echo WRONG) (predicted $(field "$1" "$2" "$3" "$4" predicted_s))" \
    "$(awk -v r="$rate" -v one="${5:-0}" 'BEGIN { if (one > 0) printf "%.3f", r / one; else printf "-" }')"
}

rm -f "$out"/pgemm-*.csv "$out"/pgemm-random-*.log
# By NCCL the emulated devices of other programs cannot go.
transports=${PGEMM_GPU_BY:-nccl,mpi}
[ "$engine" = cuda ] || transports=mpi
first=1
for n in $sizes; do
  for all in $(for s in $shapes; do echo "${s#*:}"; done | sort -un); do
    measure 1 "$all" "$n" ""
    one=$(field 1 "$all" "$n" - gflops)
    row 1 "$all" "$n" - "$one"
    for shape in $shapes; do
      [ "${shape#*:}" = "$all" ] || continue
      measure "${shape%:*}" "$all" "$n" $transports
      for transport in ${transports//,/ }; do
        row "${shape%:*}" "$all" "$n" "$transport" "$one"
      done
    done
  done
  [ "$first" = 1 ] && for transport in ${transports//,/ }; do random "$transport"; done
  first=0
done

# The example, and how far under the roofs of computing and of the network it stays. No part of the
# comparison: left out without a word where there is no time, or no Python.
shape=${shapes%% *}
kept=$(ls "$XDG_CACHE_HOME"/tessera/*.json 2>/dev/null | head -n 1)
if [ -x "$build/examples/summa" ] && [ $((all_seconds - SECONDS)) -gt 20 ]; then
  # shellcheck disable=SC2086 # words
  TESSERA_ENGINE=$engine TESSERA_DEVICES=${shape#*:} step summa 30 $start -n "${shape%:*}" \
    "$build/examples/summa" "${sizes%% *}" && [ -n "$kept" ] && command -v python3 >/dev/null &&
    step roofline 10 python3 bench/pgemm.py --from "$out/pgemm-summa.log" --machine "$kept" \
      --devices $((${shape#*:} / ${shape%:*})) --driver "$build/bench/tessera-bench-mpi" &&
    cat "$out/pgemm-roofline.log"
fi

echo
echo "$gpus x $name, $SECONDS s in all"
printf '%-6s %-12s %-5s %10s %9s %s  %8s\n' N "ranks x GPUs" by seconds TFLOP/s result "of one"
printf '%s\n' "${table[@]}"
exit $((bad > 0))
