#!/bin/sh
# The command as users meet it. Argument: the build folder (or TESSERA_BIN: the command itself).
# Neither Python nor a GPU is needed.
set -u
. "$(dirname "$0")/command.sh"

nothing_left() {
  for file in "$1"*; do
    [ -e "$file" ] && return 1
  done
  return 0
}

some_data() { data_of "$digits" | head -c "$1"; }

# ---- Help and usage ----
run --help
check help exits_and_says 0 'commands:'
check help_lists_settings says TESSERA_ENGINE
run --version
check version exits_and_says 0 '^tessera [0-9]'
for command in gemm plan machine run bench; do
  run $command --help
  check "help_$command" exits_and_says 0 'example:'
done
run
check no_command exits 2
run gemn
check unknown_command exits_and_warns 2 "did you mean 'gemm'"
run gemm --tranb T
check unknown_option exits_and_warns 2 'did you mean --transb'
run gemm "$digits"
check too_few_arguments exits 2
run gemm "$digits" "$digits" --transb T
check no_output_named exits_and_warns 2 '-o C.npy'
run gemm "$digits" "$digits" --transb T -o c.npy --type q
check unknown_type exits 2
run gemm "$digits" "$digits" --transb T -o c.npy --beta 1
check beta_without_c exits_and_warns 2 '--c'
run gemm "$digits" "$digits" --transb T -o c.npy --timeline t.png
check odd_timeline exits 2
run plan gemm d 8 8
check plan_too_few exits 2

# ---- Products ----
run gemm "$digits" "$digits" --transb T -o host.npy --engine host --devices 4 --verify \
  --timeline t.svg
check gram_on_4_devices exits_and_says 0 'correct'
check gram_names_devices says '4 devices'
check gram_is_quiet quiet
check timeline_svg grep -q '<svg' t.svg
run gemm "$digits" "$digits" --transb T -o cpu.npy --engine cpu --verify
check gram_on_cpu exits_and_says 0 'correct'
check gram_on_cpu_says_who says "the CPU's BLAS does all of it"
check machine_is_named_once says '^machine   the CPU'
# The pixels are small whole numbers: every order of the sums gives the same bits.
check gram_same_bits cmp -s host.npy cpu.npy
run gemm "$digits" "$digits" --transa T -o t.npy --engine host --devices 3 --verify \
  --timeline t.json --home p,0,2
check homes exits_and_says 0 'correct'
run gemm "$digits" "$digits" --transa T -o t.npy --engine host --home m
check home_managed exits_and_warns 2 'can be planned for'
check timeline_json grep -q 'traceEvents' t.json
for type in s b t; do
  run gemm "$digits" "$digits" --transb T -o t.npy --engine host --devices 2 --verify --type $type
  check "type_$type" exits_and_says 0 'correct'
done
run gemm "$digits" "$digits" --transb T -o t.npy --engine host --devices 4 --verify --memory 1MB
check budget_of_1_MB exits_and_says 0 'correct'
some_data 128 | npy four.npy '<f8' False 4 4
run gemm four.npy four.npy -o t.npy --engine host --devices 2 --tile 1 --verify --check
check tiles_of_1 exits_and_says 0 'correct'

# Orders and conjugates: the same numbers, whatever the order of the files.
some_data 15360 | npy c_order.npy '<c16' False 40 24
some_data 15360 | npy f_order.npy '<c16' True 40 24
for a in c_order f_order; do
  for b in c_order f_order; do
    for op in T C; do
      run gemm $a.npy $b.npy --transb $op -o t.npy --engine host --devices 2 --verify \
        --alpha 1.5-2j
      check "order_${a}_${b}_$op" exits_and_says 0 'correct'
    done
  done
done
run gemm c_order.npy f_order.npy --transa C --transb N -o t.npy --engine host --devices 2 --verify
check order_conjugate_a exits_and_says 0 'correct'

# beta.
printf '\000\000\000\000\000\000\370\177%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 |
  npy nan.npy '<f8' False 4 4
run gemm four.npy four.npy -o t.npy --engine host --devices 2 --beta 0 --c nan.npy --verify
check nan_with_beta_0 exits_and_says 0 'correct'
run gemm four.npy four.npy -o t.npy --engine host --devices 2 --beta 2 --c nan.npy --verify
check nan_with_beta_2 exits_and_warns 1 'NaN'
run gemm four.npy four.npy -o t.npy --engine host --devices 2 --alpha -1 --beta 0.5 --c four.npy \
  --repeat 3 --verify
check beta_repeated exits_and_says 0 'correct'

# Nothing to do.
: | npy rows0.npy '<f8' False 0 4
run gemm rows0.npy four.npy -o t.npy --engine host --devices 2 --verify
check no_rows exits 0
check no_rows_shape grep -q -a "'shape': (0, 4)" t.npy
run gemm rows0.npy rows0.npy --transa T -o t.npy --engine host --devices 2 --verify
check no_inner_extent exits 0
check no_inner_extent_zeros sh -c 'tail -c +129 t.npy | cmp -s -n 128 - /dev/zero'

# ---- What cannot be done ----
head -c 5000 "$digits" >short.npy
run gemm short.npy "$digits" --transb T -o bad.npy --engine host
check truncated exits_and_warns 1 'short.npy: is truncated'
check truncated_leaves_nothing nothing_left bad.npy
echo hello >text.npy
run gemm "$digits" text.npy -o bad.npy --engine host
check no_npy exits_and_warns 1 'not a .npy file'
run gemm missing.npy "$digits" -o bad.npy --engine host
check missing exits_and_warns 1 'missing.npy: No such file'
run gemm "$digits" "$digits" -o bad.npy --engine host
check shapes_differ exits_and_warns 1 'inner extents differ'
run gemm "$digits" c_order.npy -o bad.npy --engine host
check types_differ exits_and_warns 1 'complex fp64'
run gemm four.npy four.npy -o bad.npy --engine host --alpha 1j
check complex_alpha exits_and_warns 1 'must be real'
run gemm four.npy four.npy -o nowhere/bad.npy --engine host
check no_directory exits_and_warns 1 'nowhere/bad.npy: cannot be written'
run gemm four.npy four.npy -o bad.npy --engine abacus
check unknown_engine exits_and_warns 1 'abacus'
run gemm four.npy four.npy -o bad.npy --machine 'host:200 gpuu*4'
check unknown_machine exits_and_warns 1 '\^'
check nothing_was_left nothing_left bad.npy

# ---- Plans and machines ----
here='host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19'
run plan gemm d 8192 8192 8192 --home h,h,h --machine "$here"
check plan exits 0
run plan gemm d 8192 8192 8192 --home h,h,h --machine "$here" --json
check plan_json exits 0
for key in predicted_s floor_s bytes devices tile; do
  check "plan_json_$key" says "\"$key\""
done
json_valid() { ! command -v python3 >/dev/null 2>&1 || python3 -m json.tool "$1" >/dev/null 2>&1; }
check plan_json_valid json_valid out
run plan gemm s 4096 1024 2048 --home 0,u,3 --transa T --beta 0 --machine "$here" --commands \
  --timeline plan.svg
check plan_commands exits 0
check plan_timeline grep -q '<svg' plan.svg
# plan_of NAME FIRST-LINE OP TYPE EXTENTS...: an operation, as the plan calls it.
plan_of() {
  name=$1
  first=$2
  shift 2
  run plan "$@" --machine "$here"
  check "plan_$name" exits_and_says 0 "^$first"
}
plan_of gemm 'dgemm TN 512 x 256 x 128, alpha 1, beta 1' gemm d 512 256 128 --transa T
plan_of gemmt 'cgemmt UNC 300 x 300 x 128' gemmt c 300 128 --uplo upper --transb C
plan_of symm 'dsymm LL 300 x 200 x 300' symm d 300 200
plan_of hemm 'zhemm RU 300 x 200 x 200' hemm z 300 200 --side right --uplo upper
plan_of syrk 'dsyrk LN 300 x 300 x 128, alpha any, beta 0' syrk d 300 128 --alpha x --beta 0
check plan_syrk_has_no_b [ "$(grep -c '^  [ABC]' out)" -eq 2 ]
plan_of herk 'cherk LC 300 x 300 x 128' herk c 300 128 --transa C
plan_of syr2k 'dsyr2k UT 300 x 300 x 128' syr2k d 300 128 --transa T --uplo upper
plan_of her2k 'zher2k LN 300 x 300 x 128' her2k z 300 128
plan_of trmm 'dtrmm RLTU 300 x 200 x 200, alpha 1$' trmm d 300 200 --side right --transa T \
  --diag unit --ldb 400
check plan_trmm_b says "(the routine's B) 300 x 200, ld 400"
plan_of trsm 'dtrsm LUNN 300 x 200 x 300' trsm d 300 200 --uplo upper --home h,3
check plan_trsm_home says "(the routine's B) .*device 3"
run plan trsm d 4096 2048 --machine "$here" --json
check plan_trsm_json exits_and_says 0 '"call": "dtrsm LLNN"'
check plan_trsm_json_valid json_valid out
# refuse NAME MESSAGE ARGUMENTS...
refuse() {
  name=$1
  message=$2
  shift 2
  run "$@"
  check "$name" exits_and_warns 2 "$message"
}
refuse plan_odd_operation 'OP gemn: .* give gemm, ' plan gemn d 8 8 8
refuse plan_syrk_extents 'too many arguments: syrk TYPE N K' plan syrk d 8 8 8
refuse plan_trsm_extents 'too few arguments: trsm TYPE M N' plan trsm d 8
refuse plan_odd_extent "K 'x'" plan syrk d 8 x
refuse plan_odd_side '--side up: must be left or right' plan symm d 8 8 --side up
refuse plan_odd_uplo '--uplo left: must be lower or upper' plan syrk d 8 8 --uplo left
refuse plan_odd_diag '--diag 1: must be unit or non-unit' plan trmm d 8 8 --diag 1
refuse plan_no_side '--side left: syrk has no such' plan syrk d 8 8 --side left
refuse plan_no_transb '--transb T: trsm has no such' plan trsm d 8 8 --transb T
refuse plan_no_beta '--beta 0: trmm has no beta' plan trmm d 8 8 --beta 0
refuse plan_no_c '--ldc 9: trsm has no C' plan trsm d 8 8 --ldc 9
refuse plan_type 'TYPE h: syrk takes s, d, c or z' plan syrk h 8 8
refuse plan_real_hemm 'TYPE d: hemm takes c or z' plan hemm d 8 8
refuse plan_herk_transposed '--transa T: herk .* N or C' plan herk z 8 8 --transa T
refuse plan_homes 'two places for A,C' plan syrk d 8 8 --home h,h,h
refuse plan_choi_other 'its formula is for gemm' plan syrk d 8 8 --model choi
run plan gemm d 64 64 64 --machine 'host:200 gpu*'
check plan_odd_machine exits_and_warns 1 '\^'
run machine --machine "$here"
check machine exits 0
run machine --machine "$here" --json
check machine_json exits 0
check machine_json_valid json_valid out
cp out machine.json
run plan gemm d 4096 4096 4096 --machine machine.json
check machine_file exits 0
(ulimit -s 64 && run plan gemm d 8192 8192 8192 --machine "$root/machines/h200x8.json" && exit $code)
code=$?
check plan_on_a_small_stack exits 0
run machine --machine missing.json
check machine_missing exits 1
# Files that would be waited for, or have no end.
mkfifo pipe pipe.npy
endless() { # name, what is wrong with it, then the command
  check="$1_is_refused" what=$2
  shift 2
  timeout 30 env "$@" >out 2>err
  code=$?
  check "$check" exits_and_warns 1 "$what"
}
endless pipe_as_machine 'pipe is a pipe' "$tessera" machine --machine ./pipe
endless device_as_machine '/dev/zero is a device' "$tessera" machine --machine /dev/zero
endless pipe_as_settings 'pipe is a pipe' TESSERA_SETTINGS=pipe "$tessera" machine --engine cpu
endless device_as_settings 'zero is a device' TESSERA_SETTINGS=/dev/zero "$tessera" machine --engine cpu
endless pipe_as_matrix 'pipe.npy: is not a file' "$tessera" gemm pipe.npy "$digits" -o bad.npy
rm pipe pipe.npy
run gemm "$digits" "$digits" --transb T -o t.npy --engine host --devices 4 --verify --json
check gemm_json exits_and_says 0 '"verified":[[:space:]]*true'
check gemm_json_valid json_valid out

# ---- Files larger than memory ----
# Blocks of the CPU's BLAS: as small as they are made here, in both orders, with every operation.
long=$(some_data 460032 | wc -c)
some_data "$long" | npy long.npy '<f8' False 1797 32
some_data "$long" | npy tall.npy '<f8' True 1797 32
some_data "$long" | npy flat.npy '<f4' False 64 1797
in_blocks() { run gemm "$@" -o blocks.npy --resident 8K --progress --verify --json; }
in_blocks long.npy long.npy --transb T
check blocks_row_major exits_and_says 0 '"verified":[[:space:]]*true'
check blocks_tell warns '^tessera gemm:  *[0-9]* % of the product, .* TFLOP/s, .* left$'
check blocks_end warns ' 100 % of the product'
in_blocks tall.npy tall.npy --transa T
check blocks_sums exits_and_says 0 '"verified":[[:space:]]*true'
in_blocks tall.npy tall.npy --transb T --alpha -2
check blocks_column_major exits_and_says 0 '"verified":[[:space:]]*true'
in_blocks tall.npy long.npy --transb C --type z --alpha 1.5-2j
check blocks_mixed exits_and_says 0 '"verified":[[:space:]]*true'
in_blocks flat.npy flat.npy --transa T --type h
check blocks_half exits_and_says 0 '"verified":[[:space:]]*true'
"$tessera" gemm flat.npy flat.npy --transa T -o c0.npy >out 2>err
in_blocks flat.npy flat.npy --transa T --c c0.npy --beta 0.5
check blocks_beta exits_and_says 0 '"verified":[[:space:]]*true'
run gemm long.npy long.npy --transb T -o blocks.npy
check progress_unasked quiet
# Of a result of 400 MB little is in memory at a time, whoever computes it. What the program takes
# beside it differs by engine, so each is measured on a small product first; 200 MB more are half of
# the result, where 32 MB are asked for and some are written between two looks.
some_data 640000 | npy left.npy '<f4' True 10000 16
some_data 640000 | npy right.npy '<f4' True 16 10000
peak() { sed -n 's/.*"peak_resident_bytes":[[:space:]]*\([0-9]*\),/\1/p' out; }
stays_small() { # name, options
  name=$1
  shift
  run gemm "$digits" "$digits" --transb T -o blocks.npy --json "$@"
  least=$(peak)
  run gemm left.npy right.npy -o wide.npy --resident 32M --json --progress "$@"
  check "$name" [ "$(peak)" -lt $((least + 200000000)) ]
}
stays_small resident_cpu --engine cpu
stays_small resident_devices --engine host --devices 2 --memory 20M
check resident_tells warns ' 100 % of the product'
check resident_size [ "$(wc -c <wide.npy)" -eq 400000128 ]
rm -f wide.npy
# What is ended leaves nothing behind; what was told not to mind its terminal's end does not.
ended_by() { # signal: once the result has begun
  begun() { ls wide.npy.* >/dev/null 2>&1; }
  "$tessera" gemm left.npy right.npy -o wide.npy >out 2>err &
  while kill -0 $! 2>/dev/null && ! begun; do sleep 0.01; done
  kill "-$1" $!
  wait $! 2>/dev/null
  code=$?
}
ended_by TERM
check ended exits 143
check ended_leaves_nothing nothing_left wide.npy
trap '' HUP
ended_by HUP
check not_ended exits 0
check not_ended_finishes [ "$(wc -c <wide.npy)" -eq 400000128 ]
trap - HUP
rm -f wide.npy
# What does not fit on the disk is refused before anything is computed, and what was there stays.
echo old >kept.npy
(
  ulimit -f 100
  "$tessera" gemm left.npy right.npy -o kept.npy >out 2>err
  echo $? >code
)
code=$(cat code)
check too_large_for_a_file exits_and_warns 1 'kept.npy: cannot take 400000128 bytes'
check too_large_keeps_the_old [ "$(cat kept.npy)" = old ]
check too_large_leaves_nothing nothing_left kept.npy.
# A result does not take the place of what is no file, and goes where a link points.
mkdir folder there.d
mkfifo pipe
run gemm long.npy long.npy --transb T -o pipe
check result_not_for_a_pipe exits_and_warns 1 'pipe: is no ordinary file'
check result_leaves_the_pipe [ -p pipe ]
run gemm long.npy long.npy --transb T -o folder
check result_not_for_a_folder exits_and_warns 1 'folder: is a directory'
echo old >there.d/real.npy
ln -s there.d/real.npy link.npy
run gemm long.npy long.npy --transb T -o link.npy
check result_behind_a_link [ -h link.npy -a "$(wc -c <there.d/real.npy)" -gt 1000000 ]
ln -s ../pipe there.d/plot.svg
cat pipe >piped &
run gemm long.npy long.npy --transb T -o c.npy --engine host --timeline there.d/plot.svg
wait
check timeline_to_a_pipe [ -p pipe -a -h there.d/plot.svg -a -s piped ]
mkdir small
if unshare -rm mount -t tmpfs -o size=1M tmpfs small 2>/dev/null; then
  unshare -rm sh -c "mount -t tmpfs -o size=1M tmpfs small; echo old >small/c.npy
    '$tessera' gemm left.npy right.npy -o small/c.npy >out 2>err; echo \$? >code
    cat small/* >there" 2>/dev/null
  code=$(cat code)
  check full_disk exits_and_warns 1 'small/c.npy: cannot take 400000128 bytes: No space left'
  check full_disk_keeps_the_old [ "$(cat there)" = old ]
fi

# ---- The benchmark: that it runs, not how fast ----
benchmark() { run bench --engine host --repeat 2 --rate-seconds 0 "$@"; }
rows() { [ "$(grep -c "$1" "$2")" -eq "$3" ]; }
benchmark --n 48,96 --devices 1,2 --csv b.csv --timeline b.json
check bench exits_and_says 0 ' ok$'
check bench_rows rows ' ok$' out 4
check bench_csv_head grep -q '^op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,' b.csv
check bench_csv_rows rows '^gemm,d,.*,ok$' b.csv 4
check bench_timeline json_valid b.json
benchmark --op gemm,syrk,trsm --type d,z --n 40 --home 1,u,0 --uplo upper --transa T
check bench_flags exits_and_says 0 '^trsm  *z .* ok$'
check bench_routines rows ' ok$' out 6
run bench --n 48 --repeat 2 --rate-seconds 0.01 --engine host --devices 1,3
check bench_rate warns 'devices at once: 3; 10 ms'
benchmark --type z --shape 20x30x40 --transa C --home 0,h,u --devices 2 --json
check bench_json exits_and_says 0 '"correct":[[:space:]]*true'
check bench_json_valid json_valid out
run bench --n 32 --repeat 2 --engine cpu
check bench_peer exits_and_says 0 'peer ms'
refuse bench_odd_list '--n x: must be at most' bench --n x
refuse bench_odd_shape '--shape 8x8: must be at most' bench --shape 8x8
refuse bench_n_and_shape 'choose one' bench --n 8 --shape 8x8x8
refuse bench_odd_op '--op syrq: .* give gemm, ' bench --op syrk,syrq
refuse bench_odd_type '--type dd: must be types such as' bench --type dd
refuse bench_type '--type h: symm takes' bench --op symm --type h
refuse bench_hemm '--type d: hemm takes c or z' bench --op hemm
refuse bench_peer_name '--peer mkl: must be cublasxt, blas or none' bench --peer mkl
refuse bench_no_peer '--peer-repeat 3: there is no peer' bench --peer none --peer-repeat 3
refuse bench_repeat '--repeat 0: must be 1 to 1000' bench --repeat 0
refuse bench_devices '--devices 0: must be numbers of 1 to 1000' bench --devices 0
refuse bench_home 'three places for A,B,C' bench --home h,q,h
refuse bench_no_side '--side left: gemm has no such choice' bench --side left
refuse bench_words "unexpected argument 'regular'" bench regular
benchmark --n 8 --csv nowhere/b.csv
check bench_csv_nowhere exits_and_warns 1 'nowhere/b.csv'

# The two machines of Choi et al., their Table 1.
choi() { # machine, devices, tile
  run plan gemm s 16384 16384 16384 --home 0,1,2 --machine "$root/machines/$1-choi.json" \
    --devices "$2" --model choi
  check "choi_$1_$2" exits_and_says 0 "^model choi: tiles of $3$"
}
for devices in 3 4; do choi v100x4 $devices 2048; done
choi gtx1070x4 4 4096
for pair in 'v100x4 1024' 'gtx1070x4 2048'; do
  run plan gemm s 16384 16384 16384 --home 0 --model choi --devices 2 \
    --machine "$root/machines/${pair% *}-choi.json"
  check "choi_${pair% *}_2" exits_and_says 0 "^model choi: tiles of ${pair#* }$"
done
run plan gemm s 64 64 64 --model choi --machine "$here" --json
check choi_json_valid json_valid out
run plan gemm s 64 64 64 --model other --machine "$here"
check choi_odd exits_and_warns 2 'replay, choi or paper'

# What does not fit: the hold, loads, and equation (1) of Herault et al.
large="plan gemm d 20000 20000 20000 --devices 4 --memory 1G"
run $large --machine "$root/machines/h200x4.json" --model paper
check hold_paper exits_and_says 0 '^held .*(b x c), .*(d), .*(l)'
check hold_equation says 'at least  equation (1c)'
run $large --machine "$root/machines/h200x4.json" --json
check hold_json_valid json_valid out
check hold_json says '"hold": {"b": '

finish
