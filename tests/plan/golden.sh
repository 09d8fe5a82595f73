#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Writes the golden plans and the scores anew, after a change of plans that is meant, and says what the
# replay gains or loses. Argument: the build folder.
set -eu
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
scores=$source/tests/plan/golden/scores.csv
export TESSERA_SOURCE_DIR="$source"
"$build/tests/plan_test_golden" --write
if [ -x "$build/tests/cluster_golden" ]; then "$build/tests/cluster_golden" --write; fi
"$build/tests/plan_scores" >"$build/scores.csv"
python3 "$source/tests/plan/compare_scores.py" "$scores" "$build/scores.csv" || true
cp "$build/scores.csv" "$scores"
git -C "$source" diff --stat -- tests/plan/golden
