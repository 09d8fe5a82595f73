#!/bin/sh
# What libtessera_blas.so shows: the level-3 routines of both interfaces in both sizes of integers,
# also as Python's wheels name them, and nothing else. The names are spelled out here, apart from the table that makes them. Argument:
# the build folder.
. "$(dirname "$0")/dropin.sh"

for name in gemm gemmt gemmtr symm syrk syr2k trmm trsm; do
  for type in s d c z; do echo $type$name; done
done >routines
for name in hemm herk her2k; do
  for type in c z; do echo $type$name; done
done >>routines
while read -r routine; do
  echo "${routine}_"
  echo "${routine}_64_"
  echo "cblas_$routine"
  echo "cblas_${routine}64_"
done <routines >plain
{ cat plain && sed 's/^/scipy_/' plain; } | sort >expected

nm -D --defined-only "$doors" | awk '{ print $NF }' | sort >shown
check "304_names" test "$(wc -l <expected)" = 304
check "just_the_names" diff expected shown
check "without_versions" sh -c "! grep '@' shown"
check "all_are_functions" test -z "$(nm -D --defined-only "$doors" | awk '$2 != "T"')"

# A symbol is one jump (bench/door_cost.c: why), where the compiler is told to optimise: less than 16
# bytes.
one_jump_each() { ! nm -DS --defined-only "$doors" | awk '{ print $2 }' | grep -v '^0*[0-9a-f]$'; }
case $(uname -m)-$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt") in
  x86_64-Release) check "one_jump_each" one_jump_each ;;
esac

# A symbol that was bound inside could not be replaced by the program's.
check "not_symbolic" sh -c "! readelf -d '$doors' | grep -q SYMBOLIC"
check "stays_loaded" sh -c "readelf -d '$doors' | grep -q NODELETE"
needs_no_blas() {
  ! readelf -d "$1" | grep NEEDED | grep -E 'blas\.|lapack|mkl|cuda|cublas'
}
check "doors_need_no_blas" needs_no_blas "$doors"
check "library_needs_no_blas" needs_no_blas "$build/lib/libtessera.so"

# libtessera_pblas.so, where there is MPI: the products in the spellings of four compilers. It needs
# no MPI, or it would bring one into programs that have another.
pblas=$build/lib/libtessera_pblas.so.0.2
if [ -e "$pblas" ]; then
  for routine in psgemm pdgemm pcgemm pzgemm; do
    echo "$routine"
    echo "${routine}_"
    echo "${routine}__"
    echo "$routine" | tr a-z A-Z
  done | sort >expected
  nm -D --defined-only "$pblas" | awk '{ print $NF }' | sort >shown
  check "pblas_16_names" test "$(wc -l <expected)" = 16
  check "pblas_just_the_names" diff expected shown
  check "pblas_all_are_functions" test -z "$(nm -D --defined-only "$pblas" | awk '$2 != "T"')"
  check "pblas_not_symbolic" sh -c "! readelf -d '$pblas' | grep -q SYMBOLIC"
  check "pblas_stays_loaded" sh -c "readelf -d '$pblas' | grep -q NODELETE"
  check "pblas_needs_no_mpi" sh -c "! readelf -d '$pblas' | grep NEEDED | grep -E 'mpi|scalapack|blas\.'"
fi
finish
