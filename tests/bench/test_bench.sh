#!/bin/sh
# The benchmarks: the driver, and the programs over it, on emulated devices. Argument: the build
# folder. They need Python with pytest and matplotlib, which building does not.
set -u
. "$(dirname "$0")/../cases.sh"

python=
for one in python3 /usr/bin/python3; do
  [ -z "$python" ] && "$one" -c 'import matplotlib, pytest' 2>/dev/null && python=$one
done
if [ ! -x "$build/bench/tessera-bench" ]; then
  echo "skip bench: it was not built (TESSERA_BENCH)"
elif [ -z "$python" ]; then
  skip bench "Python with pytest and matplotlib (python3-pytest, python3-matplotlib)"
else
  BUILD=$build MPLCONFIGDIR=$work/matplotlib PYTHONDONTWRITEBYTECODE=1 \
    "$python" -m pytest -q -p no:cacheprovider -o addopts= --tb=short --color=no "$root/tests/bench"
  code=$?
  read -r passed missed <"$work/sum" || code=1
  [ "$code" = 0 ] || failed=1
  [ "${missed:-0}" = 0 ] || skip bench "MPI in this build, or MPIEXEC to start processes"
fi

finish
