# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# What test scripts share; they source it, and its $1 is theirs: the build folder. Leaves $root,
# $build, $tessera and $work, an empty folder in which the script goes on and which goes with it. No
# setting of ours comes in from outside, and nothing is kept outside of $work. Counts cases.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${1:-$root/build}
case $build in
  /*) ;;
  *) build=$(pwd)/$build ;;
esac
tessera=$build/bin/tessera
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0
may_skip=${TSR_TEST_SKIPS:-1}
for setting in $(env | sed -n 's/^\(TESSERA_[A-Z_]*\)=.*/\1/p'); do unset "$setting"; done
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
cd "$work" || exit 1

# check NAME CONDITION...: runs the condition as a command. When it fails, what it said is shown, and
# what the program did: $code, out, err and report.
check() {
  name=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    echo "ok $name"
    passed=$((passed + 1))
  else
    echo "FAIL $name"
    echo "    exit code ${code:-not looked at}"
    (cd "$work" && tail -n 20 said out err report 2>/dev/null) | sed 's/^/    /'
    failed=$((failed + 1))
  fi
}

# TSR_TEST_SKIPS=0 (as in CI): nothing may be missing.
skip() { # name, what is missing
  if [ "$may_skip" = 0 ]; then
    echo "FAIL $1: there is no $2"
    failed=$((failed + 1))
  else
    echo "skip $1: there is no $2"
    skipped=$((skipped + 1))
  fi
}

# The last line of a script.
finish() {
  [ "$skipped" = 0 ] || echo "$skipped skipped"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
