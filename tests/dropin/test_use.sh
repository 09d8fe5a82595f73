#!/bin/sh
# Good use and bad use: a program that knows nothing of us runs as it would without us, with and
# without devices, whatever it does to its threads, processes and streams. Argument: the build
# folder.
. "$(dirname "$0")/dropin.sh"
calls=$build/tests/dropin_calls
alone=$build/tests/dropin_calls_alone

if [ ! -x "$calls" ]; then
  skip "use" "BLAS to link with (libopenblas-dev)"
  finish
  exit
fi

# Runs a command with settings before it: preloaded NAME=value ... program arguments
preloaded() {
  rm -f report
  env LD_PRELOAD="$doors" TESSERA_REPORT="$work/report" "$@" >out 2>err
  code=$?
}
silently() { [ "$code" = 0 ] && [ ! -s out ] && [ ! -s err ]; }
reported() { grep -q -e "$1" report; }

# ---- On devices ----

for way in plain threads cancelled forks busy_fork fork_first closed streams_closed looked_up triangle; do
  offloaded 2 33 "$calls" $way
  check "offloaded_$way" silently
  check "offloaded_${way}_planned" went_through_plans 1
done
offloaded 3 16 "$calls" plain
check "count_is_exact" test "$(planned)" = 2

# The child of a process that has started devices calls no device; that of one that has not, may.
offloaded 2 33 "$calls" forks
check "child_on_cpu" reported "2 on the CPU: the devices are the parent process's"
check "parent_on_devices" test "$(planned)" = 4
offloaded 2 33 "$calls" fork_first
check "child_that_starts_devices" test "$(planned)" = 2

# Matrices that share memory are for the BLAS behind us, or for ours where there is none.
"$calls" shared >out 2>err
if [ $? = 0 ]; then
  offloaded 2 33 "$calls" shared
  check "shared_memory" silently
  check "shared_memory_on_cpu" reported '1 on the CPU: '
else
  skip "shared_memory" "a BLAS that multiplies by 0 what it has overwritten"
fi
env TESSERA_ENGINE=host TESSERA_OFFLOAD=always "$alone" shared >out 2>err
code=$?
check "shared_memory_alone" silently

# Threads of the program for which a BLAS is all that fits on their stack.
(ulimit -s 64 && "$calls" threads) >out 2>err
if [ $? = 0 ]; then
  (ulimit -s 64 && offloaded 2 33 "$calls" threads && exit "$code")
  code=$?
  check "small_stacks" silently
  check "small_stacks_planned" went_through_plans 1
else
  skip "small_stacks" "a BLAS that can do with stacks of 64 KiB"
fi

# ---- By the model ----

# A machine whose devices are very fast and whose CPU is very slow: soon all calls are for devices.
fast='host:200 gpu*2@nvswitch:300 pcie:1000 rate:1000 cpu:0.01 lat:0.1 launch:0.1'
preloaded TESSERA_ENGINE=host TESSERA_MACHINE="$fast" TESSERA_MIN_SIZE=8 "$calls" patient
check "auto" silently
check "auto_first_on_cpu" reported 'on the CPU: \(while devices\|starting devices\)'
check "auto_then_on_devices" reported 'on devices: the devices are faster'
check "auto_saves" reported 'saved by the model: [1-9]'
preloaded TESSERA_ENGINE=host TESSERA_MACHINE="$fast" TESSERA_MIN_SIZE=8 "$calls" hasty
check "ends_while_starting" silently

# The other way round.
slow='host:200 gpu*2@nvswitch:300 pcie:1 rate:0.001 cpu:100000'
preloaded TESSERA_ENGINE=host TESSERA_MACHINE="$slow" TESSERA_MIN_SIZE=8 "$calls" patient
check "auto_cpu_faster" reported '60 on the CPU: the CPU is faster'
preloaded TESSERA_ENGINE=host "$calls" plain
check "small_calls" reported '2 on the CPU: too small to gain'
preloaded TESSERA_ENGINE=host TESSERA_OFFLOAD=always TESSERA_MIN_SIZE=97 "$calls" plain
check "min_size" reported '2 on the CPU: too small to gain'
preloaded TESSERA_ENGINE=host TESSERA_OFFLOAD=always TESSERA_MIN_SIZE=96 "$calls" plain
check "min_size_reached" test "$(planned)" = 2

# ---- Without devices ----

preloaded TESSERA_OFFLOAD=never TESSERA_ENGINE=host "$calls" plain
check "never" silently
check "never_says_so" reported '2 on the CPU: TESSERA_OFFLOAD is never'
for engine in cuda cpu; do
  preloaded TESSERA_ENGINE=$engine "$calls" forks
  check "engine_$engine" silently
done
preloaded CUDA_VISIBLE_DEVICES= TESSERA_OFFLOAD=always "$calls" plain
check "driver_without_gpu" silently
check "driver_without_gpu_on_cpu" reported '2 on the CPU: no device can be used'
# All memory taken: no plan fits.
preloaded TESSERA_ENGINE=host TESSERA_OFFLOAD=always TESSERA_MEMORY=2K "$calls" threads
check "memory_taken" silently
check "memory_taken_on_cpu" reported 'on the CPU: the devices could not'

# ---- Settings that make no sense ----

for wrong in TESSERA_OFFLOAD=maybe TESSERA_MIN_SIZE=-1 TESSERA_ENGINE=abacus TESSERA_DEVICES=x; do
  preloaded $wrong "$calls" plain
  check "wrong_${wrong%%=*}" silently
  check "wrong_${wrong%%=*}_told" reported "no devices: .*\"${wrong#*=}\""
done
preloaded TESSERA_REPORT=/nowhere/report "$calls" plain
check "report_to_nowhere" silently

# ---- Other BLASes ----

# Without a BLAS of its own, and with us in the place of its own.
preloaded TESSERA_ENGINE=cpu "$alone" plain
check "no_other_blas" silently
preloaded TESSERA_ENGINE=host TESSERA_OFFLOAD=always "$alone" plain
check "no_other_blas_offloaded" test "$(planned)" = 2
env TESSERA_CPU_BLAS="$doors" "$alone" plain >out 2>err
check "own_blas_refused" test $? = 127
check "own_blas_refused_and_told" grep -q 'cannot be carried out' err
mkdir as_blas
ln -s "$doors" as_blas/libblas.so.3
env LD_LIBRARY_PATH="$work/as_blas:$build/lib" TESSERA_ENGINE=cpu "$calls" plain >out 2>err
code=$?
check "in_place_of_libblas" silently

# With 64-bit integers under the plain names: they go on whole.
preloaded TESSERA_OFFLOAD=never "$build/tests/dropin_wide"
check "wide_integers" silently

# The reference CBLAS calls its own Fortran symbols, which are ours: still one call each.
netlib=$(dirname "$(find /usr/lib* -path '*/blas/libblas.so.3' 2>/dev/null | head -n 1)")
if [ -e "$netlib/libblas.so.3" ]; then
  preloaded LD_LIBRARY_PATH="$netlib" TESSERA_OFFLOAD=never "$calls" threads
  check "blas_that_calls_itself" silently
  check "blas_that_calls_itself_once" reported '^tessera: 320 level-3 BLAS calls'
else
  skip "blas_that_calls_itself" "netlib's libblas.so.3 (libblas3)"
fi

# A BLAS that the program closes, to go on with another; the first by a path that is relative.
cd "$build/tests"
closing() { # NAME settings
  name=$1
  shift
  rm -f "$work/report"
  env LD_PRELOAD="$doors" "$@" ./dropin_closed blas ./libdropin_closed_one.so \
    "$build/tests/libdropin_closed_other.so" >"$work/out" 2>"$work/err"
  code=$?
  (cd "$work" && silently)
  check "closed_$name" test $? = 0
}
closing never TESSERA_OFFLOAD=never
closing small TESSERA_ENGINE=host
closing large TESSERA_ENGINE=host TESSERA_MIN_SIZE=0
closing counted TESSERA_OFFLOAD=never TESSERA_REPORT="$work/report"
cd "$work"
check "closed_counted_all" reported '^tessera: 4 level-3 BLAS calls'

# ---- Wrong arguments, over each BLAS ----

# What handlers are told is what they are told without us.
told_as_without() { # settings
  env "$@" "$calls" wrong >without 2>err
  preloaded "$@" TESSERA_ENGINE=host TESSERA_OFFLOAD=always "$calls" wrong
  [ "$code" = 0 ] && [ "$(wc -l <out)" = 6 ] && diff without out && [ ! -s err ]
}
check "wrong_arguments" told_as_without TESSERA_TILE=16
check "wrong_arguments_go_nowhere" test ! -e report
preloaded TESSERA_ENGINE=host TESSERA_OFFLOAD=always "$calls" wrong_ours
check "wrong_arguments_of_ours" silently
env "$build/tests/dropin_calls_told" wrong_alone >out 2>err
code=$?
check "wrong_arguments_alone" silently
if [ -e "$netlib/libblas.so.3" ]; then
  check "wrong_arguments_netlib" told_as_without LD_LIBRARY_PATH="$netlib"
  preloaded LD_LIBRARY_PATH="$netlib" "$calls" wrong_ours
  check "wrong_arguments_of_ours_netlib" silently
fi

# ---- While other threads load libraries ----

preloaded CARRIED_IN="$build/tests" "$calls" loading
check "loading" silently

# ---- Programs without a BLAS ----

for program in "true" "ls /" "sh -c :" "cat $root/README.md"; do
  $program >without 2>&1
  preloaded TESSERA_OFFLOAD=always $program
  check "no_blas_${program%% *}" test "$code" = 0 -a ! -s err
  check "no_blas_${program%% *}_same" diff without out
done

# ---- The command ----

"$tessera" run --report "$calls" >out 2>err
check "run_wants_dashes" grep -q 'put -- before' err
"$tessera" run "$calls" plain >out 2>err
check "run_without_options" test $? = 0
"$tessera" run -- "$calls" nonsense >out 2>err
check "run_exit_code" test $? = 2
"$tessera" run -- "$work/nonesuch" >out 2>err
check "run_not_found" test $? = 127
"$tessera" run >out 2>err
check "run_what" test $? = 2
for wrong in '--offload maybe' '--min-size 1e3' '--engine abacus' '--devices 1;2' '--devices -1' \
  '--devices ...2' '--machine gpuu*2' '--machine no.json' '--memory lots' '--tile x'; do
  # shellcheck disable=SC2086
  "$tessera" run $wrong -- touch begun >out 2>err
  code=$?
  check "run_refuses_$(echo "$wrong" | tr -dc 'a-z-')" \
    test "$code" = 2 -a ! -e begun -a "$(grep -c -e "${wrong%% *}" err)" = 1
done
"$tessera" run --engine host --devices 1, --memory 16M,32M --tile 16 --min-size 0 --offload always \
  --report-to here -- sh -c "cd / && '$calls' plain" >out 2>err
check "run_options_arrive" grep -q '^tessera: 2 level-3 BLAS calls: 2 on devices' here
cp "$root/machines/h200x4.json" small.json
"$tessera" run --devices ..2 --machine small.json -- sh -c 'cd / && cat "$TESSERA_MACHINE" &&
  echo $TESSERA_DEVICES' >out 2>err
check "run_machine_is_found" grep -q '^\.\.2$' out
echo '#!/no/such/interpreter' >script && chmod +x script
"$tessera" run -- ./script >out 2>err
check "run_no_interpreter" test $? = 127
chmod -x script
"$tessera" run -- ./script >out 2>err
check "run_not_executable" test $? = 126
"$tessera" run --report -- "$calls" plain >out 2>err
check "run_report" grep -q '^tessera: 2 level-3 BLAS calls: ' err
(ulimit -n 20 && "$tessera" run --report -- "$calls" plain >out 2>err)
check "run_report_with_few_files" grep -q '^tessera: 2 level-3 BLAS calls: ' err
"$tessera" run --report -- true >out 2>err
check "run_report_of_nothing" grep -q '^tessera: 0 level-3 BLAS calls: ' err
"$tessera" run --report -- timeout 20 true >out 2>err
check "run_report_once" test "$(grep -c 'level-3 BLAS calls' err)" = 1
grep SigIgn /proc/self/status >without
"$tessera" run -- grep SigIgn /proc/self/status >out 2>err
check "run_ignores_no_signal" diff without out
"$tessera" run --explain --engine host --devices 4 --offload always -- "$calls" plain >out 2>err
check "run_explain" grep -q 'dgemm trans NN m 96 n 96 k 96, 1 times: 4 devices' err
check "run_explain_rows" grep -q 'dgemm row-major trans NN m 96 n 96 k 96, 1 times' err
check "run_explain_is_short" test "$(wc -l <err)" = 3
LD_PRELOAD=/lib/libnonesuch.so "$tessera" run -- sh -c 'echo $LD_PRELOAD' >out 2>/dev/null
check "run_keeps_preloads" grep -q ':/lib/libnonesuch.so$' out
finish
