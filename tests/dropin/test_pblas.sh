#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# ScaLAPACK's own testers of the PBLAS and a factorisation of its, over an unmodified ScaLAPACK, with
# our doors before it: what passes without us passes with us, and the products have really gone to
# emulated devices, as the reports of all processes say. Then random products of ours, counted, and
# what must not happen. Arguments: the build folder; "all" for every type and number of processes.
# Slow: four processes.
. "$(dirname "$0")/dropin.sh"
part=${2:-sample}
door=$build/lib/libtessera_pblas.so.0.2

if [ ! -e "$door" ]; then
  echo "no PBLAS door in this build: it needs MPI"
  finish
  exit
fi

# ---- Without MPI ----

# The sum over all processes of the products that went to devices.
products() {
  awk '/PBLAS products?:/ { sum += $5 } END { print sum + 0 }' report 2>/dev/null
}
env TESSERA_OFFLOAD=always TESSERA_ENGINE=host TESSERA_REPORT="$work/report" \
  "$build/tests/dropin_manglings" >out 2>err
check "every_symbol" test $? = 0
check "every_symbol_once" grep -q '16 PBLAS products: 0 on devices, 16 by ScaLAPACK' report
# What the door has to say is written where a thread may be cancelled.
env TESSERA_LOG=debug "$build/tests/dropin_manglings" cancelled >out 2>err
check "cancelled" test $? = 0 -a -s err
# A ScaLAPACK that the program closes, to go on with another.
for setting in TESSERA_OFFLOAD=auto TESSERA_REPORT="$work/report"; do
  env LD_PRELOAD="$door" "$setting" "$build/tests/dropin_closed" pblas \
    "$build/tests/libfake_scalapack_one.so" "$build/tests/libfake_scalapack_other.so" >out 2>err
  check "closed_${setting%%=*}" test $? = 0
done
"$tessera" run -- sh -c 'echo $LD_PRELOAD' >out 2>err
check "run_preloads_it" grep -q 'libtessera_blas.so.0.2:[^:]*libtessera_pblas.so.0.2$' out

# The MPI of the build, its launcher, and the testers that go with it.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
launcher=$(cached MPIEXEC_EXECUTABLE)
if ldd "$build/lib/libtessera_mpi.so" | grep -q libmpich; then
  mine=mpich other=openmpi
else
  mine=openmpi other=mpich
fi
# MPICH's processes wait without resting: a sample makes do with as many as there may be cores.
most=4
[ "$part$mine" != samplempich ] || most=2
testers_of() { dirname "$(find /usr/lib* -path "*/scalapack/$1-tests/xdlu" 2>/dev/null | head -n 1)"; }
testers=$(testers_of $mine)
inputs=/usr/share/scalapack
if [ ! -x "$testers/PBLAS/dpb3tst" ] || [ ! -d "$inputs" ]; then
  skip "pblas" "dpb3tst of $mine (scalapack-mpi-test)"
  finish
  exit
fi

# More processes than cores; Open MPI wants to be told, others do not look.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader
OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
  OMPI_MCA_mpi_yield_when_idle OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_btl \
  OMPI_MCA_btl_vader_single_copy_mechanism

# Runs a program on so many processes: as it is, and with every product offloaded.
without() { # processes, program, arguments
  n=$1
  shift
  timeout 600 "$launcher" -n "$n" "$@" >without 2>&1 </dev/null
}
with_doors() { # processes, devices of each, program, arguments
  n=$1 each=$2
  shift 2
  rm -f report
  timeout 600 "$launcher" -n "$n" "$tessera" run --report-to "$work/report" --engine "$engine" \
    --devices "$each" --tile 7 --offload always -- "$@" >out 2>err </dev/null
  code=$?
}
# ---- The testers ----

# Rows of the summary: routine, tests, passed, failed, skipped.
summary() { sed -n 's/^ *| *\(P[A-Z0-9]*\) *\([0-9]\)/\1 \2/p' "$1"; }
none_failed() { summary "$1" | awk '{ if ($4 != 0) bad = 1; n++ } END { exit bad || n == 0 }'; }
same_summary() { [ "$(summary out)" = "$(summary without)" ]; }
all_passed() { # of the products
  summary out | awk -v want="$1" '$1 ~ /GEMM/ { if ($3 == want) good = 1 } END { exit !good }'
}
same_error_exits() {
  [ "$(grep -c 'PASSED' out)" = "$(grep -c 'PASSED' without)" ] && ! grep -q 'FAILED \*' out
}

# The shapes of grids on so many processes.
grids() {
  case $1 in
    1) rows="1" cols="1" ;;
    2) rows="1 2" cols="2 1" ;;
    *) rows="2 1 2 1 4" cols="2 2 1 4 1" ;;
  esac
  several=$(echo "$rows" | wc -w)
  # One call a process of the grid and test.
  members=$(echo "$rows $cols" | awk '{ for (i = 1; i <= NF / 2; i++) sum += $i * $(i + NF / 2) }
                                      END { print sum }')
}
# Stock input, on our grids: four problems of each routine, and error exits.
stock_input() { # type
  upper=$(echo "$1" | tr a-z A-Z)
  sed -e "s/^[0-9]*\(.*number of process grids\)/$several\1/" -e "s/^[0-9 ]*\(.*values of P *\$\)/$rows \1/" \
    -e "s/^[0-9 ]*\(.*values of Q *\$\)/$cols \1/" "$inputs/PBLAS/P${upper}BLAS3TST.dat" \
    >"P${upper}BLAS3TST.dat"
  tests=4
}
chance_input() { # type, seed
  upper=$(echo "$1" | tr a-z A-Z)
  awk -v type="$1" -v seed="$2" -v rows="$rows" -v cols="$cols" \
    -f "$root/tests/dropin/pblas_input.awk" >"P${upper}BLAS3TST.dat"
  tests=20
}
tester() { # type, processes, devices of each, "stock" or a seed
  grids "$2"
  if [ "$4" = stock ]; then stock_input "$1"; else chance_input "$1" "$4"; fi
  without "$2" "$testers/PBLAS/${1}pb3tst"
  with_doors "$2" "$3" "$testers/PBLAS/${1}pb3tst"
  is="$1_${4}_on_$2_with_$3"
  check "${is}_passes" all_passed $((tests * several))
  check "${is}_none_failed" none_failed out
  check "${is}_as_without" same_summary
  check "${is}_error_exits_as_without" same_error_exits
  check "${is}_on_devices" test "$(products)" = $((tests * members))
}

if [ "$part" = all ]; then
  for type in s d c z; do
    for count in 1 2 4; do
      for each in 1 2; do
        for input in stock 1 2 3 4 5; do tester $type $count $each $input; done
      done
    done
  done
else
  tester d $most 2 stock
  tester z $most 1 1
  tester s 2 2 2
  tester c 2 1 stock
  tester d 1 2 3
fi

# ---- A factorisation ----

# With a threshold of 0 every test fails, and says its residual. Without condition numbers and
# refinement, in which the tester hangs for some sizes, unmodified.
lu_input() { # sizes, blocks, grids
  sed -e "s/^[0-9]*\(.*number of problems\)/$(echo "$1" | wc -w)\1/" -e "s/^[0-9 ]*\(.*values of [MN] *\$\)/$1 \1/" \
    -e "s/^[0-9]*\(.*number of NB's\)/$(echo "$2" | wc -w)\1/" -e "s/^[0-9 ]*\(.*values of NB *\$\)/$2 \1/" \
    -e "s/^[0-9]*\(.*number of process grids\)/$several\1/" -e "s/^[0-9 ]*\(.*values of P *\$\)/$rows \1/" \
    -e "s/^[0-9 ]*\(.*values of Q *\$\)/$cols \1/" -e "s/^1.0\(.*threshold\)/0.0\1/" -e "s/^T\(.*Test Cond\)/F\1/" "$inputs/LU.dat" >LU.dat
}
residuals() { sed -n 's/^||.*[)=] *\([0-9][0-9.E+-]*\) *$/\1/p' "$1"; }
# As many, none above the threshold that they should have had, and each as without but for rounding:
# they are of the last bits, of which sums in another order make up to twice as many.
same_residuals() {
  residuals without >a
  residuals out >b
  [ "$(wc -l <a)" -ge "$1" ] && [ "$(wc -l <a)" = "$(wc -l <b)" ] &&
    paste a b | awk '{ if ($2 >= 1 || $2 > 3 * $1) bad = 1 } END { exit bad }'
}
factorisation() { # type, processes, devices of each, sizes, blocks, least products, least residuals
  grids "$2"
  lu_input "$4" "$5"
  without "$2" "$testers/x${1}lu"
  with_doors "$2" "$3" "$testers/x${1}lu"
  check "x${1}lu_on_$2_same_residuals" same_residuals "$7"
  check "x${1}lu_on_$2_on_devices" test "$(products)" -ge "$6"
}
if [ "$part" = all ]; then
  for type in s d c z; do
    factorisation $type 2 1 "13 64 129" "2 8 16" 100 50
    factorisation $type 4 2 "13 64 129" "2 8 16" 100 50
  done
else
  factorisation d $most 2 "23 64" "4 16" 50 30
fi

# ---- Random products, counted ----

program=$build/tests/cluster_pblas
if [ -x "$program" ]; then
  with_doors $most 2 "$program" --seed 11 --count 60
  check "random" test "$code" = 0
  check "random_all_on_devices" test "$(products)" = "$(sed -n 's/ for devices//p' out)"
  # Settings that differ from process to process, for which all decide alike, or wait for ever.
  timeout 600 env TESSERA_ENGINE=host "$launcher" -n $most "$program" --differ --count 40 >out 2>err
  check "processes_that_differ" test $? = 0
  timeout 600 env TESSERA_ENGINE=host TESSERA_OFFLOAD=always "$launcher" -n 3 "$program" \
    --wrong-here >out 2>err
  check "wrong_on_one_process" test $? = 42
  # Native products of several processes are not reproducible, and emulated ones are.
  for arithmetic in native emulated; do
    rm -f report
    timeout 600 env TESSERA_ENGINE=host TESSERA_OFFLOAD=always TESSERA_REPRODUCIBLE=1 \
      TESSERA_ARITHMETIC=$arithmetic TESSERA_REPORT="$work/report" "$launcher" -n 2 "$program" --count 20 >out 2>err
    check "reproducible_$arithmetic" test $? = 0
    said=$(grep -c 'by ScaLAPACK: native products across processes are not reproducible' report)
    check "reproducible_${arithmetic}_says_so" test "$said" = "$([ $arithmetic = native ] && echo 2 || echo 0)"
  done
  # By the model: a slow CPU beside fast devices, and the other way round.
  fast='host:200 gpu*2@nvswitch:300 pcie:1000 rate:1000 cpu:0.00001 lat:0.1 launch:0.1'
  rm -f report
  timeout 600 env TESSERA_ENGINE=host TESSERA_MACHINE="$fast" TESSERA_MIN_SIZE=4 \
    TESSERA_REPORT="$work/report" "$launcher" -n 2 "$program" --count 60 >out 2>err
  check "auto" test $? = 0
  check "auto_on_devices" grep -q 'on devices: the devices are faster' report
  # No delay of a product makes up for devices as slow as these.
  slow='host:200 gpu*2@nvswitch:300 pcie:1e-6 rate:1e-9 cpu:100000'
  rm -f report
  timeout 600 env TESSERA_ENGINE=host TESSERA_MACHINE="$slow" TESSERA_MIN_SIZE=4 \
    TESSERA_REPORT="$work/report" "$launcher" -n 2 "$program" --count 20 >out 2>err
  check "auto_by_scalapack" test "$(products)" = 0
  check "auto_says_why" grep -q 'by ScaLAPACK: the CPU is faster' report
  # No memory on devices, and no devices.
  for nothing in TESSERA_MEMORY=2K CUDA_VISIBLE_DEVICES=; do
    engine_setting=TESSERA_ENGINE=host
    [ $nothing = TESSERA_MEMORY=2K ] || engine_setting=TESSERA_ENGINE=
    rm -f report
    timeout 600 env $nothing "$engine_setting" TESSERA_OFFLOAD=always \
      TESSERA_REPORT="$work/report" "$launcher" -n 2 "$program" --count 20 >out 2>err
    check "nothing_${nothing%%=*}" test $? = 0
    check "nothing_${nothing%%=*}_on_devices" test "$(products)" = 0
  done
else
  skip "random_products" "ScaLAPACK to link with (libscalapack-$mine)"
fi

# ---- Another MPI ----

# The door was not built for it: everything goes to ScaLAPACK, and nothing of this MPI is touched.
their_launcher=$(command -v mpirun.$other || command -v mpiexec.$other)
theirs=$(testers_of $other)
if [ -n "$their_launcher" ] && [ -x "$theirs/PBLAS/dpb3tst" ]; then
  grids 2
  stock_input d
  launcher=$their_launcher
  without 2 "$theirs/PBLAS/dpb3tst"
  with_doors 2 1 "$theirs/PBLAS/dpb3tst"
  check "other_mpi_ends" test "$code" = 0
  check "other_mpi_as_without" same_summary
  check "other_mpi_by_scalapack" test "$(products)" = 0
  check "other_mpi_says_so" grep -q 'by ScaLAPACK: Tessera was built for another MPI' report
else
  skip "other_mpi" "$other with its testers (scalapack-mpi-test, $other)"
fi
finish
