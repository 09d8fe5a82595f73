#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# NumPy and SciPy as PyPI has them, which carry a BLAS of their own, for tests/dropin: the latest in
# build-wheels/, and in build-wheels-1/ those whose BLAS has other names. Quick when they are there.
set -eu
cd "$(dirname "$0")/.."

wheels() { # folder, packages
  folder=$1
  shift
  [ -x "$folder/bin/python" ] || /usr/bin/python3 -m venv "$folder"
  "$folder/bin/python" -c 'import numpy, scipy, pytest, hypothesis' 2>/dev/null ||
    "$folder/bin/pip" install -q "$@" pytest hypothesis
}
wheels build-wheels numpy scipy
wheels build-wheels-1 numpy==1.26.4 scipy==1.11.4
