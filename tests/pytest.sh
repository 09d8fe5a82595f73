#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Runs a file of tests for pytest. It ends with "N passed, N failed", as all scripts of tests do.
# Arguments: the build folder, the file; which of its marks are wanted (none: all tests but the long ones).
set -u
BUILD=$1
export BUILD
file=$2
marked=${3:-not long}

# A python3 of the user's own may lack what the system's has. Benchmarks also draw, by matplotlib.
for modules in "pytest, matplotlib, cffi" "pytest, cffi" "pytest, matplotlib" pytest; do
  for python in python3 /usr/bin/python3; do
    if "$python" -c "import $modules" 2>/dev/null; then
      PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -c "$(dirname "$0")/pytest.ini" -m "$marked" \
        "$file"
    fi
  done
done
if [ "${TSR_TEST_SKIPS:-1}" = 0 ]; then
  echo "FAIL $(basename "$file"): there is no pytest (python3-pytest)"
  echo "0 passed, 1 failed"
  exit 1
fi
echo "skip $(basename "$file"): there is no pytest (python3-pytest)"
echo "0 passed, 0 failed"
