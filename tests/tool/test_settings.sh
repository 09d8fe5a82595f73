#!/bin/sh
# Every setting that the code reads is on the page of settings and in what tessera --help prints, and
# none is there that nothing reads. Argument: the build folder.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
tessera=${1:-$root/build}/bin/tessera
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# check NAME FILE FILE: the files hold the same names.
check() {
  if [ -s "$2" ] && diff "$2" "$3" >"$work/said"; then
    echo "ok $1"
    passed=$((passed + 1))
  else
    echo "FAIL $1"
    sed 's/^/    /' "$work/said"
    failed=$((failed + 1))
  fi
}
names_in() { grep -rhoE "$@" | grep -oE 'TESSERA_[A-Z_]*[A-Z]' | sort -u; }

# What is read stands between quotes; the table is no reader. TESSERA_RUN_PID is between the command
# and the doors.
names_in '"TESSERA_[A-Z_]+"' "$root/src" "$root/tools" --include='*.[ch]' --exclude=settings.c \
  --exclude-dir=build | grep -vx TESSERA_RUN_PID >"$work/read"
names_in '"TESSERA_[A-Z_]+"' "$root/src/base/settings.c" >"$work/table"
names_in '^\| `TESSERA_[A-Z_]+`' "$root/docs/settings.md" >"$work/page"
"$tessera" --help | grep -oE '^  TESSERA_[A-Z_]+' | tr -d ' ' | sort >"$work/help"
check page_is_table "$work/page" "$work/table"
check help_is_table "$work/help" "$work/table"

# settings.c itself reads those of contexts: by name in a call, not in a row.
grep -vE '^ *\{"TESSERA_' "$root/src/base/settings.c" | grep -oE '"TESSERA_[A-Z_]+"' | tr -d '"' |
  sort -u >"$work/contexts"
sort -u "$work/read" "$work/contexts" >"$work/all"
check table_is_what_is_read "$work/table" "$work/all"

# What documents tell people to set exists, or is an option of the build.
grep -rhoE '(option|set)\(TESSERA_[A-Z_]+' "$root/CMakeLists.txt" "$root/src" --include=CMakeLists.txt |
  grep -oE 'TESSERA_[A-Z_]+' | sort -u >"$work/build"
names_in 'TESSERA_[A-Z_]+' "$root/README.md" "$root/docs" "$root/include" --include='*.md' \
  --include='*.h' | grep -vxE 'TESSERA_(MPI_)?H|TESSERA_RUN_PID' >"$work/told"
sort -u "$work/table" "$work/build" | comm -12 - "$work/told" >"$work/known"
check documents_tell_of_them "$work/told" "$work/known"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
