#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# kept.sh TESSERA: processes that see different devices of one computer, as under Slurm's
# --gpus-per-task=1, keep a measurement for each set, and never measure a set again.
set -eu
tessera=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
export XDG_CACHE_HOME="$folder" TESSERA_ENGINE=hip TESSERA_LOG=info TSR_HIP_DEVICES=4

# measures DEVICES: prints how often a process that sees these measures.
measures() {
  ROCR_VISIBLE_DEVICES=$1 "$tessera" machine >"$folder/out" 2>"$folder/err" ||
    { cat "$folder/err" >&2; exit 1; }
  grep -c "measuring this machine" "$folder/err" || true
}

# expect TIMES FILES DEVICES
expect() {
  times=$(measures "$3")
  files=$(find "$folder/tessera" -name '*.json' | wc -l)
  [ "$times $files" = "$1 $2" ] && return
  echo "devices $3: measured $times times, not $1; $files files are kept, not $2" >&2
  exit 1
}

expect 1 1 0
expect 1 2 1
for turn in 1 2; do
  expect 0 2 0
  expect 0 2 1
done
expect 1 3 2,3
expect 0 3 3    # a part of a set
expect 0 3 3,2  # in another order
expect 0 3 0
