#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Runs the tests of a build and ends with "N passed, N failed": single cases, as the programs count
# them. Arguments: the build folder, the labels to leave out and, if not all, the names of the tests
# and of those to leave out (regular expressions).
set -u
build=$1
without=$2
names=${3:-.}
others=${4:-'^$'}
log=$build/tests.log

ctest --test-dir "$build" -LE "$without" -R "$names" -E "$others" -j "${JOBS:-$(nproc)}" --verbose \
  >"$log" 2>&1
verdict=$?

# One line for each program, and what the failed ones said.
sed -n 's|^ *[0-9]*/[0-9]* Test *#[0-9]*: ||p' "$log"
failed_programs=$(sed -n 's|^ *[0-9]*/[0-9]* Test *#\([0-9]*\): .*\(\*\*\*\).*|\1|p' "$log")
for number in $failed_programs; do
  echo
  sed -n "s/^$number: //p" "$log" | head -n 300 |
    grep -v -e '^ok ' -e '\[       OK \]' -e '\[ RUN      \]' -e '^$' -e '^ [A-Z_]*=' \
      -e '^Working Directory' -e '^Environment variables' -e '^Test timeout'

done

# What was left out, and for want of what.
sed -n 's/^[0-9]*: \(skip .*\)/\1/p' "$log" | sort -u

# Lines are "NUMBER: what program NUMBER printed". cmocka marks each case; the others end with
# their own sum, which also the scripts print.
awk '
  /^[0-9]+: \[       OK \]/ { ++passed; next }
  /^[0-9]+: \[  FAILED  \] +[0-9]+ test/ { next }
  /^[0-9]+: \[  FAILED  \] [a-zA-Z_]/ { failing[$0] = 1; next }
  /^[0-9]+: .*[0-9]+ passed, [0-9]+ failed$/ {
    passed += $(NF - 3); lost += $(NF - 1)
    if ($(NF - 1) > 0) { split($0, part, ":"); told[part[1]] = 1 }
    next
  }
  # A program that failed without a failing case (it crashed, hung, or did not start) counts as one.
  /Test +#[0-9]+: .*\*\*\*/ { match($0, /#[0-9]+/); broken[substr($0, RSTART + 1, RLENGTH - 1)] = 1 }
  END {
    for (line in failing) { split(line, part, ":"); told[part[1]] = 1; ++lost }
    for (number in broken) if (!(number in told)) ++lost
    printf "%d passed, %d failed\n", passed, lost
    if (passed == 0) exit 1
  }' "$log" && [ $verdict -eq 0 ]
