#!/bin/sh
# Under ulimit -v, from next to nothing to enough: every run ends, with a result or with an error that
# says what is missing. OpenBLAS waits for ever for a buffer that it cannot have. Argument: the build
# folder.
set -u
. "$(dirname "$0")/command.sh"
alone=$build/tests/dropin_calls_alone
export OPENBLAS_NUM_THREADS=1 # for the sizes below

# limited KIB COMMAND...: leaves $code, out and err; 124: it did not end.
limited() {
  kib=$1
  shift
  rm -f c.npy
  (ulimit -v "$kib" && exec timeout 60 "$@" >out 2>err)
  code=$?
}
# The loader, the C library and we say it in different words.
says_why() { grep -q -i -e 'memory' -e 'MiB' -e 'cannot map' -e 'failed to map' -e 'cannot start the thread' err; }
done_right() { [ "$code" = 0 ] && [ -s c.npy ]; }
refused() { [ "$code" != 0 ] && [ "$code" != 124 ] && [ "$code" -lt 128 ] && [ ! -e c.npy ] && says_why; }
ends() { done_right || refused; }
told_limit() { [ "$code" = 1 ] && warns 'limited to .* MiB (ulimit -v); raise the limit'; }

# In KiB. With one thread the BLAS needs 208 MiB beside what the command has.
for kib in 2000 4000 6000 8000 12000 20000 40000 60000 90000 120000 150000 180000 210000 230000 250000 \
  300000 400000 600000 800000 1200000 2000000; do
  for engine in cpu host; do
    limited $kib "$tessera" gemm "$digits" "$digits" --transb T -o c.npy --engine $engine --devices 2
    check "${engine}_$kib" ends
  done
done
# Where emulated devices get their memory and the staging ring does not, or the other way round.
for kib in 214000 218000 222000 226000 228000 232000 234000 236000 238000; do
  limited $kib "$tessera" gemm "$digits" "$digits" --transb T -o c.npy --engine host --devices 2
  check "host_$kib" ends
done
for kib in 40000 120000; do
  for engine in cpu host; do
    limited $kib "$tessera" gemm "$digits" "$digits" --transb T -o c.npy --engine $engine --devices 2
    check "${engine}_${kib}_names_the_limit" told_limit
  done
done
limited 4000000 "$tessera" gemm "$digits" "$digits" --transb T -o c.npy --engine cpu --verify
check cpu_with_room done_right
limited 4000000 "$tessera" gemm "$digits" "$digits" --transb T -o c.npy --engine host --verify
check host_with_room done_right

# A program without a BLAS of its own: the door's error handler speaks, and the program ends.
if [ -x "$alone" ]; then
  limited 120000 env TESSERA_ENGINE=cpu "$alone" plain
  check doors_name_the_limit exits_and_warns 127 'dgemm_ cannot be carried out: .*ulimit -v'
  limited 4000000 env TESSERA_ENGINE=cpu "$alone" plain
  check doors_with_room exits 0
else
  skip doors "BLAS to link with (libopenblas-dev)"
fi

finish
