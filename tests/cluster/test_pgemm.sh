#!/bin/sh
# tessera pgemm and its like as users meet them. Arguments: the build folder, the program that starts
# processes, its flag for their number. Results are compared with those of tessera gemm, byte by byte:
# the data are small whole numbers.
set -u
. "$(dirname "$0")/../tool/command.sh"
mpiexec=$2
flag=$3
summit=$root/machines/v100x3-summit.json

# on PROCESSES ARGUMENTS...: leaves $code, out and err.
on() {
  processes=$1
  shift
  "$mpiexec" "$flag" "$processes" "$tessera" "$@" >out 2>err
  code=$?
}

fails() { [ "$code" -ne 0 ]; }
done_and_says() { exits_and_says 0 "$1"; }
same() { exits 0 && cmp -s "$1" "$2"; }
fails_and_warns() { fails && warns "$1"; }
written() { [ -s "$1" ] && [ -s "$2" ]; }
once() { [ "$(grep -c -e "$1" err)" -eq 1 ]; }
is_trace() { exits 0 && grep -q traceEvents "$1" && grep -q 'process (0, 0), messages' "$1" && grep -q 'panels of A, slot 0' "$1"; }

# A F-ordered file of the same numbers, to be read in the other order: the transpose of digits.
data_of "$digits" | npy turned.npy '<f8' True 64 1797

# ---- Products ----
run gemm "$digits" "$digits" --transa T -o gram.npy --engine cpu
check reference exits 0
run gemm "$digits" gram.npy -o big.npy --engine cpu --c "$digits" --beta -2
check reference_with_c exits 0
for processes in 1 2 3 4; do
  on $processes pgemm "$digits" "$digits" --transa T -o c.npy --engine cpu --block 7
  check "gram_on_$processes" same gram.npy c.npy
  on $processes pgemm "$digits" gram.npy -o c.npy --engine cpu --c "$digits" --beta -2
  check "with_c_on_$processes" same big.npy c.npy
done
on 4 pgemm "$digits" turned.npy --transa T --transb T -o c.npy --engine cpu --grid 4x1
check other_order_and_grid same gram.npy c.npy
on 2 pgemm "$digits" "$digits" --transa T -o c.npy --engine host --devices 4 --depth 100 --lookahead 1 \
  --blocks 17x23 --check
check emulated_devices_and_blocks same gram.npy c.npy
on 2 pgemm "$digits" "$digits" --transa T --type z -o c.npy --engine cpu
check converted done_and_says 'complex fp64'
on 2 pgemm "$digits" "$digits" --transa T -o c.npy --engine host --devices 2 --timeline t.json --repeat 1
check timeline is_trace t.json
on 2 pgemm "$digits" "$digits" --transa T -o c.npy --engine cpu --explain
check explained done_and_says 'on a grid of 1 x 2'

# ---- What is wrong ----
rm -f c.npy
on 2 pgemm "$digits" "$digits" -o c.npy --engine cpu
check inner_extents fails_and_warns 'inner extents differ'
check said_once once 'inner extents differ'
check nothing_written [ ! -e c.npy ]
on 2 pgemm "$digits" no.npy -o c.npy
check no_file fails_and_warns 'no.npy'
on 2 pgemm "$digits" "$digits" --transa T
check no_output fails_and_warns '-o C.npy'
on 2 pgemm "$digits" "$digits" --transa T -o c.npy --grid 3x1
check wrong_grid fails_and_warns 'does not match'
on 2 pgemm "$digits" "$digits" --transa T -o c.npy --type h
check wrong_type fails_and_warns 'type s, d, c or z'
for wrong in '--blocks 8' '--lookahead 99' '--network -1' '--memory lots' '--machine gpuu*2'; do
  # shellcheck disable=SC2086
  on 2 pgemm "$digits" "$digits" --transa T -o c.npy $wrong
  check "wrong_${wrong% *}" once "tessera pgemm: ${wrong% *}"
done

# ---- Plans ----
run plan pgemm d 200000 200000 200000 --grid 6x6 --machine "$summit"
check plan done_and_says 'predicted'
run plan pgemm d 20000 20000 20000 --grid 2x2 --machine "$summit" --commands --timeline p.json
check steps done_and_says 'home      block (0, 0)'
check predicted_timeline grep -q 'panels of B' p.json
run plan pgemm d 20000 20000 20000 --grid 2x2 --machine "$summit" --network 150 --up 50
check plan_by_nccl done_and_says '150 GB/s each way'
run plan pgemm d 100 100 100 --grid 1x1 --machine "$summit"
check plan_of_one fails_and_warns 'tsr_plan_gemm'
run plan pgemm d 100 100 100
check plan_without_grid fails_and_warns '--grid'

# ---- The benchmarks' driver ----
driver=$build/bench/tessera-bench-mpi
measure() { # processes, then what the driver is given
  processes=$1
  shift
  "$mpiexec" "$flag" "$processes" "$driver" "$@" >out 2>err
  code=$?
}
square() { echo "pgemm d $1 $1 $1${2:+ $2}"; }
if [ -x "$driver" ]; then
  measure 2 "$(square 300)" 'pgemm d 200 150 100 processes=1' --engine cpu --repeat 2 --csv m.csv
  check measured done_and_says 'right$'
  check measured_rows [ "$(grep -c ',1,[m-]' m.csv)" = 2 ]
  measure 2 'pgemm c 200 200 200' --engine host --devices 2 --repeat 1 --timeline m.json
  check measured_on_devices done_and_says 'right$'
  check measured_timeline grep -q '"name":"panel 0"' m.json
  measure 2 "$(square 100 transport=nccl)" "$(square 100 transport=mpi)" --engine host --devices 2 \
    --repeat 1 --csv t.csv
  check one_transport_fails fails_and_warns 'NCCL is for CUDA devices'
  check the_other_is_measured [ "$(grep -c ',1,mpi$' t.csv)" = 1 ]
  measure 2 "$(square 100 transport=pigeons)"
  check no_such_transport fails_and_warns 'must be auto, mpi or nccl'
  check said_by_one once pigeons
  measure 2 "$(square 100 processes=3)"
  check too_many_processes fails_and_warns 'has started 2'
  measure 2 "$(square 100 up=50)"
  check only_for_predictions fails_and_warns 'are for predictions'
fi

finish
