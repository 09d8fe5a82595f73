#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# pip install . into a bare environment, followed by the first product and the command: with as many
# Pythons as are named. It fetches what the build needs (scikit-build-core, cffi, NumPy) from the
# package index. Run by CI, and by hand: sh tests/python/wheel.sh [python3 ...]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- /usr/bin/python3
first=$1

"$first" -m venv "$work/build"
begin=$(date +%s)
"$work/build/bin/pip" wheel -q "$root" --no-deps -w "$work"
wheel=$(ls "$work"/tessera_blas-*.whl)
case $wheel in
*-py3-none-linux_*) ;;
*) echo "FAIL $wheel is for one Python alone" && exit 1 ;;
esac
echo "$(basename "$wheel"): $(wc -c <"$wheel") bytes, built in $(($(date +%s) - begin)) s"
if "$first" -m zipfile -l "$wheel" | grep -E 'fortran|/test|\.mod '; then
  echo "FAIL the wheel has files of Fortran or of tests" && exit 1
fi

cat >"$work/first.py" <<'END'
import numpy as np, tessera
a, b = np.random.rand(300, 200), np.random.rand(200, 100)
assert np.allclose(tessera.matmul(a, b), a @ b)
with tessera.Context(engine="host", devices=2) as context:
    assert np.allclose(context.matmul(a, b), a @ b)
print(tessera.plan("gemm", (8192, 8192), (8192, 8192)).verdict)
assert (tessera.matmul(np.ones((3, 2, 4)), np.ones(4)) == 4).all()
assert tessera.version_number() >= 200
assert ".so" not in tessera.Context(machine="h200x4", engine="cpu").machine
END
for python; do
  begin=$(date +%s)
  "$python" -m venv "$work/bare"
  "$work/bare/bin/pip" install -q "$wheel"
  # The libraries are those of the wheel, and none is missing.
  libraries=$(ls "$work"/bare/lib/python*/site-packages/tessera/lib/libtessera.so.*)
  ! ldd "$libraries" | grep -q 'not found'
  ldd "$libraries" | grep cjson | grep -q site-packages
  (cd "$work" && "$work/bare/bin/python" first.py)
  (cd "$work" && "$work/bare/bin/tessera" plan gemm d 4096 4096 4096 --machine h200x4 >/dev/null)
  (cd "$work" && "$work/bare/bin/python" -m tessera run first.py >/dev/null)
  echo "$("$python" --version): installed, first product and command in $(($(date +%s) - begin)) s"
  rm -rf "$work/bare"
done
