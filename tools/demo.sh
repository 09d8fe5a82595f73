#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The demo: the Gram matrix of the 1797 handwritten digits (64 pixels each), on the GPUs if there
# are any, else on four emulated devices. Argument: the build folder.
set -u
tessera=${1:-build}/bin/tessera
digits=examples/data/digits.npy

if "$tessera" machine --engine cuda >/dev/null 2>&1; then
  where="--engine cuda"
else
  where="--engine host --devices 4"
  echo "No usable GPU here: the demo names four emulated devices. What is named is obeyed, so a plan"
  echo "is made and drawn, although the CPU alone would be quicker."
  echo
fi
command="$tessera gemm $digits $digits --transb T -o demo.npy $where --verify --timeline timeline.svg --force"
echo "\$ $command"
$command || exit 1
echo
command="$tessera plan gemm d 16384 16384 16384 --machine h200x4 --timeline h200x4.svg --force"
echo "\$ $command"
$command || exit 1
echo
echo "Wrote demo.npy (the product), timeline.svg (its plan and its run) and h200x4.svg (the plan of a"
echo "large product on four H200; open both in a browser)."
