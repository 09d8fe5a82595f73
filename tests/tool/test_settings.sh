#!/bin/sh
# Every setting that the code reads is on the page of settings and in what tessera --help prints, and
# none is there that nothing reads. Argument: the build folder.
set -u
. "$(dirname "$0")/../cases.sh"

# The files hold the same names, and some.
same() { [ -s "$1" ] && diff "$1" "$2"; }
names_in() { grep -rhoE "$@" | grep -oE 'TESSERA_[A-Z_]*[A-Z]' | sort -u; }

# What is read stands between quotes; the table is no reader. TESSERA_RUN_PID is between the command
# and the doors.
names_in '"TESSERA_[A-Z_]+"' "$root/src" "$root/tools" --include='*.[ch]' --exclude=settings_table.c \
  --exclude-dir=build | grep -vx TESSERA_RUN_PID >read
names_in '"TESSERA_[A-Z_]+"' "$root/src/base/settings_table.c" >table
names_in '^\| `TESSERA_[A-Z_]+`' "$root/docs/settings.md" >page
"$tessera" --help | grep -oE '^  TESSERA_[A-Z_]+' | tr -d ' ' | sort >help
check page_is_table same page table
check help_is_table same help table

check table_is_what_is_read same table read

# What documents tell people to set exists, or is an option of the build.
grep -rhoE '(option|set)\(TESSERA_[A-Z_]+' "$root/CMakeLists.txt" "$root/src" --include=CMakeLists.txt |
  grep -oE 'TESSERA_[A-Z_]+' | sort -u >build
names_in 'TESSERA_[A-Z_]+' "$root/README.md" "$root/docs" "$root/include" --include='*.md' \
  --include='*.h' | grep -vxE "TESSERA_(MPI_)?(MODEL_)?H|TESSERA_(MODEL|RUN_PID)" >told
sort -u table build | comm -12 - told >known
check documents_tell_of_them same told known

# The page of knobs has the table that the code prints.
"$tessera" knobs | grep '^| `' >knobs
grep '^| `' "$root/docs/knobs.md" >knobs_page
check knobs_page_is_table same knobs knobs_page

# The page of tuned constants has the tables that the command prints, which are those of src/: a row
# for each of theirs. Each says what it does in a sentence, and where its value comes from.
"$tessera" tuning | grep -E '^(## Constants|\| `)' >tuning
grep -E '^(## Constants|\| `)' "$root/docs/tuning.md" >tuning_page
check tuning_page_is_table same tuning tuning_page
find "$root/src" -name tuning.def -exec grep -hoE '^TSR_(WHOLE|REAL|GUESS)\([A-Z_0-9]+' {} + |
  sed 's/.*(//' | sort >constants
grep -oE '^\| `[A-Z_0-9]+' tuning | tr -d '|` ' | sort >printed
check tuning_has_all_tables same constants printed
"$tessera" tuning --json | sed -n 's/^.*"name":[[:space:]]*"\([A-Z_0-9]*\)".*/\1/p' | sort >json
check tuning_json_has_all_tables same constants json
check tuning_names_are_unique sh -c 'test -z "$(uniq -d constants)"'
grep '^| ' tuning | grep -vE '\. \| (measured|predicted|chosen)[:,]' >unsaid
check tuning_tells_origins test ! -s unsaid

finish
