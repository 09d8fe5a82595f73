#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# NumPy and SciPy as PyPI has them, which carry a BLAS of their own, for tests/dropin: in
# build-wheels/. Quick when they are there.
set -eu
cd "$(dirname "$0")/.."
[ -x build-wheels/bin/python ] || /usr/bin/python3 -m venv build-wheels
if ! build-wheels/bin/python -c 'import numpy, scipy, pytest, hypothesis' 2>/dev/null; then
  build-wheels/bin/pip install -q numpy scipy pytest hypothesis
fi
