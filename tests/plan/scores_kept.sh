#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The scores that are kept (tests/plan/golden/scores.csv) are those of this planner. After a change of
# plans that is meant: sh tests/plan/golden.sh build
set -u
folder=$(dirname "$0")
"$1" | "$2" "$folder/compare_scores.py" --same --limit 0.1 "$folder/golden/scores.csv" - &&
  echo "1 passed, 0 failed" && exit 0
echo "0 passed, 1 failed"
exit 1
