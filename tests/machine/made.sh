#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The machine files that come with the library are what their program writes. Arguments: the program
# (make_machines), the folder of the files.
set -eu
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$1" "$made"
diff -r --exclude=README.md --exclude=make.c --exclude="*.h" "$made" "$2"
