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
for command in gemm plan machine run bench 'bench doors' 'bench gemm' 'bench blas3' 'bench cpu' 'bench plan' 'bench regular' \
  'bench composed' 'bench irregular' 'bench skinny' 'bench variants' 'bench roofline' \
  'bench ablation' 'bench tiles' 'bench predicted' 'bench caps'; do
  # shellcheck disable=SC2086
  run $command --help
  check "help_$(echo "$command" | tr ' ' _)" exits_and_says 0 'example:'
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
run bench gemm --n x
check bench_odd_list exits 2

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
run machine --machine missing.json
check machine_missing exits 1
run gemm "$digits" "$digits" --transb T -o t.npy --engine host --devices 4 --verify --json
check gemm_json exits_and_says 0 '"verified": true'
check gemm_json_valid json_valid out

# ---- Files larger than memory ----
# Blocks of the CPU's BLAS: as small as they are made here, in both orders, with every operation.
long=$(some_data 460032 | wc -c)
some_data "$long" | npy long.npy '<f8' False 1797 32
some_data "$long" | npy tall.npy '<f8' True 1797 32
some_data "$long" | npy flat.npy '<f4' False 64 1797
in_blocks() { run gemm "$@" -o blocks.npy --resident 8K --progress --verify --json; }
in_blocks long.npy long.npy --transb T
check blocks_row_major exits_and_says 0 '"verified": true'
check blocks_tell warns '^tessera gemm:  *[0-9]* % of the product, .* TFLOP/s, .* left$'
check blocks_end warns ' 100 % of the product'
in_blocks tall.npy tall.npy --transa T
check blocks_sums exits_and_says 0 '"verified": true'
in_blocks tall.npy tall.npy --transb T --alpha -2
check blocks_column_major exits_and_says 0 '"verified": true'
in_blocks tall.npy long.npy --transb C --type z --alpha 1.5-2j
check blocks_mixed exits_and_says 0 '"verified": true'
in_blocks flat.npy flat.npy --transa T --type h
check blocks_half exits_and_says 0 '"verified": true'
"$tessera" gemm flat.npy flat.npy --transa T -o c0.npy >out 2>err
in_blocks flat.npy flat.npy --transa T --c c0.npy --beta 0.5
check blocks_beta exits_and_says 0 '"verified": true'
run gemm long.npy long.npy --transb T -o blocks.npy
check progress_unasked quiet
# Of a result of 400 MB little is in memory at a time, whoever computes it. What the program takes
# beside it differs by engine, so each is measured on a small product first; 200 MB more are half of
# the result, where 32 MB are asked for and some are written between two looks.
some_data 640000 | npy left.npy '<f4' True 10000 16
some_data 640000 | npy right.npy '<f4' True 16 10000
peak() { sed -n 's/.*"peak_resident_bytes": \([0-9]*\),/\1/p' out; }
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

# ---- Benchmarks: that they run, not how fast ----
run bench doors --n 2,40 --repeat 3 --json
check bench_doors exits_and_says 0 '"n": 40, .*"added_s": '
check bench_doors_json_valid json_valid out
run bench gemm --type d --n 48,96 --devices 1,2 --repeat 3 --rate-seconds 0 --engine host \
  --csv b.csv --plot b.svg --timeline b.json
check bench_gemm exits_and_says 0 ' ok$'
check bench_csv_head grep -q -x \
  'op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,fraction,predicted_s,peer,peer_s' b.csv
check bench_csv_rows [ "$(grep -c '^gemm,d,' b.csv)" -eq 4 ]
check bench_plot grep -q '<polyline' b.svg
check bench_timeline json_valid b.json
run bench gemm --n 48 --repeat 3 --rate-seconds 0.01 --engine host --devices 1,3
check bench_rate exits_and_says 0 'held by each of 3 devices at once for 10 ms'
run bench gemm --type z --shape 20x30x40 --transa C --home 0,h,u --devices 2 --repeat 2 \
  --rate-seconds 0 --engine host --json
check bench_json exits_and_says 0 '"correct": true'
check bench_json_valid json_valid out
level3() { run bench blas3 --peer none --repeat 2 --rate-seconds 0 --engine host --devices 2 "$@"; }
real=gemm,gemmt,symm,syrk,syr2k,trmm,trsm
level3 --n 300 --op $real --csv l.csv --plot l.svg
check bench_blas3 exits 0
check bench_blas3_rows [ "$(grep -c ' ok$' out)" -eq 7 ]
check bench_blas3_csv [ "$(grep -c '^[a-z0-9]*,d,300,300,300,"h,h,h",2,' l.csv)" -eq 7 ]
check bench_blas3_plot [ "$(grep -c 'home h,h,h' l.svg)" -eq 7 ]
level3 --n 300 --op $real,hemm,herk,her2k --type z
check bench_blas3_complex [ "$(grep -c ' ok$' out)" -eq 10 ]
level3 --n 90,61 --op $real --side right --uplo upper --transa T --diag unit --home 1,u,0
check bench_blas3_flags [ "$(grep -c ' ok$' out)" -eq 14 ]
level3 --n 61,90 --op hemm,herk,her2k,trmm,trsm --type c --transa C --side right --home 1,0,0
check bench_blas3_conjugates [ "$(grep -c ' ok$' out)" -eq 10 ]
level3 --n 40 --repeat 1000 --op trmm,trsm --type s
check bench_blas3_stays_finite [ "$(grep -c ' ok$' out)" -eq 2 ]
level3 --n 48 --json
check bench_blas3_json exits_and_says 0 '"op": "syr2k".*"correct": true'
check bench_blas3_json_valid json_valid out
refuse bench_blas3_odd_op '--op syrq: .* give gemm, ' bench blas3 --op syrk,syrq
refuse bench_blas3_type '--type h: symm takes' bench blas3 --type h
refuse bench_blas3_hemm '--type d: hemm takes c or z' bench blas3 --op hemm
refuse bench_blas3_peer '--peer mkl: must be cublasxt or none' bench blas3 --peer mkl
refuse bench_blas3_repeat '--repeat must be' bench blas3 --repeat 0
run bench composed --n 96,64 --devices 1,2 --repeat 2 --tile 24 --engine host --check \
  --machine 'gpu*2@nvlink:300' --csv c.csv --plot c.svg
check bench_composed exits 0
check bench_composed_rows [ "$(grep -c ' ok$' out)" -eq 8 ]
check bench_composed_csv [ "$(grep -c '^d,96,2,composed,' c.csv)" -eq 1 ]
# X is on the device when the product begins: one matrix less goes there, and no more comes back.
bytes() { grep "^d,96,1,$1," c.csv | cut -d, -f"$2"; }
check bench_composed_in [ "$(($(bytes separate 8) - $(bytes composed 8)))" -eq $((96 * 96 * 8)) ]
check bench_composed_out [ "$(bytes composed 9)" -eq $((2 * 96 * 96 * 8)) ]
check bench_composed_plot [ "$(grep -c 'devices to host' c.svg)" -eq 1 ]
run bench composed --n 61 --type z --devices 2 --repeat 1 --engine host --timeline c.json
check bench_composed_timeline [ "$(grep -c '"name":"ztrsm' c.json)" -gt 0 ]
check bench_composed_complex [ "$(grep -c ' ok$' out)" -eq 2 ]
refuse bench_composed_type '--type h: trsm takes' bench composed --type h
refuse bench_composed_repeat '--repeat must be' bench composed --repeat 0
caps() { run bench caps --n 300 --rate-seconds 0 --engine host "$@"; }
caps --devices 1,2 --caps 0,400K --routine $real --csv k.csv --plot k.svg
check bench_caps exits 0
check bench_caps_rows [ "$(grep -c ' ok$' out)" -eq 28 ]
check bench_caps_csv [ "$(grep -c '^[a-z0-9]*,d,300,[12],.*,ok$' k.csv)" -eq 42 ]
check bench_caps_plot [ "$(grep -c 'N = 300, pinned' k.svg)" -eq 7 ]
# Without a cap everything fits; with one something is held. What is measured is what was planned.
check bench_caps_fits [ "$(grep -c '^[a-z0-9]*,d,300,[12],0,[^,]*,[^,]*,[^,]*,1,.*,0,0,0,0,' k.csv)" -eq 21 ]
check bench_caps_holds [ "$(grep -c '^[a-z0-9]*,d,300,[12],400000,400000,.*,0,0,0,0,' k.csv)" -eq 0 ]
check bench_caps_loads [ "$(tail -n +2 k.csv | awk -F, '$18 != $19 || $20 != $21' | wc -l)" -eq 0 ]
check bench_caps_bound [ "$(tail -n +2 k.csv | awk -F, '$18 + $20 < 0.999 * $24' | wc -l)" -eq 0 ]
caps --routine gemm,herk --type z --caps 1M --repeat 3 --warm-up 0
check bench_caps_complex [ "$(grep -c ' ok$' out)" -eq 2 ]
caps --caps 1M,0 --no-check --rate-seconds 0.01
check bench_caps_no_check [ "$(grep -c '  -$' out)" -eq 2 ]
refuse bench_caps_cap '--caps many: must be bytes' bench caps --caps 0,many
refuse bench_caps_repeat '--repeat must be' bench caps --repeat 0
refuse bench_caps_type '--type h: syrk takes' bench caps --routine syrk --type h
run bench cpu --n 32 --repeat 3 --json
check bench_cpu exits 0
check bench_cpu_valid json_valid out
run bench plan --n 2048 --repeat 3 --call-n 64 --engine host --devices 2 --machine "$here"
check bench_plan exits_and_says 0 'returns after'

# Data sets: rows are added as they come, left out when they are there, and shards make up the whole.
head='op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,fraction,predicted_s,peer,peer_s'
small='gpu*4@nvlink:300'
rows_in() { [ "$(grep -c '^gemm,' "$1")" -eq "$2" ]; }
set_of() { # the points of a file, without what was measured
  grep '^gemm,' "$1" | sed 's/\(".*",[0-9]*\),.*/\1/' | sort
}
same_set() { [ "$(set_of "$1")" = "$(set_of "$2")" ]; }
on_small() {
  run "$@" --engine host --machine "$small" --repeat 2 --rate-seconds 0
}

on_small bench regular --peer none --n 32,48 --devices 1,2 --csv r.csv --plot r.svg
check bench_regular exits_and_says 0 ' ok$'
check bench_regular_head [ "$(head -1 r.csv)" = "$head" ]
check bench_regular_rows rows_in r.csv 8
check bench_regular_no_doubles [ "$(set_of r.csv | uniq -d | wc -l)" -eq 0 ]
check bench_regular_plots grep -q '<polyline' r-hhh.svg r-000.svg
on_small bench regular --peer none --n 32,48,64 --devices 1,2 --csv r.csv --resume
check bench_resume_adds rows_in r.csv 12
check bench_resume_skips [ "$(grep -c ' ok$' out)" -eq 4 ]
on_small bench regular --peer none --n 32,48 --devices 1,2 --csv r.csv --resume --json
check bench_resume_reads exits_and_says 0 '"n": 48'
check bench_resume_reads_json json_valid out
printf 'gemm,d,32,32,32,"h,' >>r.csv
on_small bench regular --peer none --n 80 --homes h --devices 1 --csv r.csv --resume
check bench_resume_after_cut exits_and_says 0 '  80 '
check bench_resume_after_cut_row grep -q '^gemm,d,80,80,80,' r.csv
on_small bench regular --n 32 --resume
check bench_resume_of_nothing exits_and_warns 2 '--csv'
echo something >text.csv
on_small bench regular --peer none --n 32 --csv text.csv --resume
check bench_odd_csv exits_and_warns 1 'text.csv: no results'
on_small bench regular --peer none --n 32 --csv nowhere/r.csv
check bench_csv_nowhere exits_and_warns 1 'nowhere/r.csv'
on_small bench regular --n 32 --shard 3/2
check bench_odd_shard exits_and_warns 2 '--shard 3/2'

irregular() {
  on_small bench irregular --peer none --fat 48,64 --thin 16 --ratio 4,8 --devices 2,4 "$@"
}
irregular --csv whole.csv --plot i.svg
check bench_irregular exits_and_says 0 'geometric mean'
check bench_irregular_compares says 'slower than on fewer devices'
check bench_irregular_real_homes grep -q '"1,0,h",2,' whole.csv
check bench_irregular_homes grep -q '"3,2,h",4,' whole.csv
check bench_irregular_plot grep -q '<circle' i.svg
for shard in 1 2 3; do irregular --csv shards.csv --resume --shard $shard/3; done
check bench_shards_sum_up exits_and_says 0 '30 of 30 points'
check bench_shards_are_whole same_set shards.csv whole.csv
irregular --csv late.csv --seconds 0.000001
check bench_out_of_time exits_and_warns 0 'run it again with --resume'
irregular --csv sample.csv --sample 5 --seed 7
irregular --csv again.csv --sample 5 --seed 7
irregular --csv other.csv --sample 5 --seed 8
check bench_sample_size says '5 of 5 points'
check bench_sample_again same_set sample.csv again.csv
check bench_sample_other [ "$(set_of sample.csv)" != "$(set_of other.csv)" ]
run bench irregular --fat x
check bench_odd_fat exits_and_warns 2 '--fat x'
run bench irregular --homes 'h,q,h'
check bench_odd_homes exits 2

run bench predicted --machine "$root/machines/h200x8.json" --n 2048,3000 --type d,s \
  --devices 1,8 --check --csv f.csv --plot f.svg
check bench_predicted exits_and_says 0 '^8 devices (8): 8 points'
check bench_predicted_rows [ "$(grep -c '^gemm,[ds],' f.csv)" -eq 16 ]
check bench_predicted_panels [ "$(grep -c '^<g ' f.svg)" -eq 4 ]
run bench predicted --machine "$root/machines/h200x8.json" --n 2048,3000 --type d,s \
  --devices 1,8 --csv again.csv
check bench_predicted_again cmp -s f.csv again.csv
run bench predicted --machine 'gpu*4 pcie:10/pair' --n 4096 --homes h,h,h --devices '0,1;0,2' --json
check bench_predicted_json json_valid out
pair() { sed -n "s/.*\"set\": \"$1\", \"predicted_s\": [0-9.e-]*, \"tflops\": \([0-9]*\).*/\1/p" out; }
check bench_predicted_sets [ "$(pair 0,2)" -gt "$(pair 0,1)" ]
run bench predicted --machine 'gpu*2 rate:1' --dataset irregular --fat 512 --thin 64 --ratio 4
check bench_predicted_irregular exits_and_says 0 '^2 devices (2): 10 points'
check bench_predicted_real_homes [ "$(grep -c ' 0,0,h ' out)" -eq 2 ]
run bench predicted --machine "$small" --measured r.csv,whole.csv --devices 2,4
check bench_predicted_compares exits_and_says 0 'predicted then, by the measured'
check bench_predicted_as_measured [ "$(grep -c '^d .* h,h,h  *2 ' out)" -eq \
  "$(cat r.csv whole.csv | grep '^gemm.*"h,h,h",2,' | cut -d, -f1-9 | sort -u | wc -l)" ]
refuse bench_predicted_machine '--machine is required' bench predicted
refuse bench_predicted_dataset '--dataset odd: must be' bench predicted --machine "$small" --dataset odd
refuse bench_predicted_set '--devices 1;: must be' bench predicted --machine "$small" --devices '1;'
refuse bench_predicted_n '--n 64: the irregular' bench predicted --machine "$small" --dataset irregular --n 64
run bench predicted --machine "$small" --n 64 --devices 9
check bench_predicted_too_many exits_and_warns 1 'device 8 is asked for'
run bench predicted --machine "$small" --measured r.csv --devices 3
check bench_predicted_nothing exits_and_warns 1 'nothing was measured'

run bench skinny --short 1,8 --long 40,64 --repeat 2 --engine host --machine "$small"
check bench_skinny exits_and_says 0 '24 products'
check bench_skinny_rows [ "$(grep -c ' ok$' out)" -eq 24 ]
run bench skinny --short 1 --long 64 --repeat 2 --json
check bench_skinny_json exits_and_says 0 '"cpu_s": [0-9.e-]*, "ratio"'
check bench_skinny_json_valid json_valid out
run bench skinny --limit 1k
check bench_skinny_nothing exits 2
run bench variants --n 40,37 --repeat 2 --engine host --machine "$small" --devices 2
check bench_variants exits_and_says 0 'a first call costs at most'
check bench_variants_rows [ "$(grep -c ' ok$' out)" -eq 8 ]
run bench variants --n 40 --home 0,h,1 --repeat 2 --engine host --devices 2 --type z --json
check bench_variants_json exits_and_says 0 '"op": "TT"'
check bench_variants_json_valid json_valid out
run bench roofline --from r.csv,whole.csv --plot roof.svg --machine "$small"
check bench_roofline exits_and_says 0 'host links GB/s'
check bench_roofline_panels [ "$(grep -c 'under the' roof.svg)" -eq 2 ]
run bench roofline --from r.csv --plot roof.svg --machine 'gpu*1'
check bench_roofline_few_devices exits_and_warns 1 'the machine has 1'
on_small bench roofline --n 32 --shape 32x32x8 --devices 2 --plot roof.svg
check bench_roofline_measures exits_and_says 0 ' ok$'
run bench roofline --from r.csv
check bench_roofline_no_plot exits_and_warns 2 '--plot'
run bench ablation --n 48,64 --devices 2,4 --repeat 2 --engine host --check --csv a.csv --plot a.svg
check bench_ablation exits_and_says 0 '+ search .* ok$'
check bench_ablation_sets [ "$(grep -c 'SUMMA' out)" -eq 4 ]
check bench_ablation_csv [ "$(grep -c '^gemm,d,' a.csv)" -eq 32 ]
check bench_ablation_words grep -q 'grid=2x2 tile=8 .*route=home relay=0 channels=0"' a.csv
check bench_ablation_plot [ "$(grep -c '<rect' a.svg)" -eq 41 ]
run bench ablation --predict --n 2048 --home 0,1,2 --type s --devices 4 --machine "$here" --csv p.csv
check bench_ablation_predict exits_and_says 0 '+ panels'
check bench_ablation_predict_csv grep -q ',,$' p.csv
run bench ablation --predict --n 2048
check bench_ablation_for_how_many exits_and_warns 2 '--devices'
run bench ablation --n 8 --engine cpu
check bench_ablation_needs_devices exits_and_warns 1 '--predict'
run bench ablation --n 0 --engine host
check bench_ablation_odd_list exits 2

run bench tiles --n 96 --tiles 16,24,32,96,200 --devices 1,2,4 --repeat 2 --engine host --check \
  --csv t.csv --plot t.svg
check bench_tiles exits_and_says 0 'replay predicts [0-9]*; best measured'
check bench_tiles_both_homes [ "$(grep -c 'predicts' out)" -eq 6 ]
check bench_tiles_csv [ "$(grep -c '^gemm,d,96,' t.csv)" -eq 24 ]
check bench_tiles_marks [ "$(grep -c ',1,[01]$' t.csv)" -eq 6 ]
check bench_tiles_plot grep -q 'rings: as the model' t.svg
run bench tiles --n 96 --tiles 32 --home 0,1,2 --devices 1,2 --repeat 1 --engine host
check bench_tiles_homes_beyond exits_and_says 0 'home 0,1,2, 2 devices'
run bench tiles --n 96 --model oracle
check bench_tiles_odd_model exits_and_warns 2 'replay or choi'

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
run bench tiles --type s --n 16384 --predict --model choi --devices 2,4 --home 0,1,2 \
  --tiles 1024,2048,4096 --machine "$root/machines/v100x4-choi.json"
check choi_bench_2 exits_and_says 0 'choi predicts 1024'
check choi_bench_4 says 'choi predicts 2048'
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
