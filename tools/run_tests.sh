#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Runs tests of a build, with a line as each program ends, and ends with "N passed, N failed": single cases, as
# the programs count them. Arguments: the build folder, and options of ctest that choose tests (-L, -LE, -R, -E).
# TSR_TEST_TURN: the turn of samples (tests/turn.h), if not the commit's number; empty: the first samples, and in
# Python all cases. LEFT_OUT: how to run what is left out, to be told.
set -u
build=$1
shift
log=$build/tests.log

# The number of the commit, so that the next one has the next samples; 0 without git.
commit_number() {
  [ -e "$(dirname "$0")/../.git" ] && git -C "$(dirname "$0")" rev-list --count HEAD 2>/dev/null || echo 0
}
TSR_TEST_TURN=${TSR_TEST_TURN-$(commit_number)}
export TSR_TEST_TURN
[ -z "$TSR_TEST_TURN" ] || echo "samples of turn $TSR_TEST_TURN (the same again: TSR_TEST_TURN=$TSR_TEST_TURN)"

# One line for each program, as it ends.
{
  ctest --test-dir "$build" "$@" -j "${JOBS:-$(nproc)}" --verbose 2>&1
  echo $? >"$build/tests.code"
} | tee "$log" | sed -u -n 's|^ *[0-9]*/[0-9]* Test *#[0-9]*: ||p'
verdict=$(cat "$build/tests.code")

# What the failed ones said.
failed_programs=$(sed -n 's|^ *[0-9]*/[0-9]* Test *#\([0-9]*\): .*\(\*\*\*\).*|\1|p' "$log")
for number in $failed_programs; do
  echo
  sed -n "s/^$number: //p" "$log" | head -n 300 |
    grep -v -e '^ok ' -e '\[       OK \]' -e '\[ RUN      \]' -e '^$' -e '^ [A-Z_]*=' \
      -e '^Working Directory' -e '^Environment variables' -e '^Test timeout'

done

# What was left out, for want of what, or because nobody asked for it.
sed -n 's/^[0-9]*: \(skip .*\)/\1/p' "$log" | sort -u
count() { ctest --test-dir "$build" "$@" -N | sed -n 's/^Total Tests: //p'; }
[ -z "${LEFT_OUT:-}" ] ||
  echo "left out: $(($(count) - $(count "$@"))) of $(count) tests; $LEFT_OUT"

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
  }' "$log" && [ "$verdict" -eq 0 ]
