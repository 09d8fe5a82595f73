# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What knowing the sockets is worth: the file of docs/results is what the benchmark writes."""
import csv
import io

import pytest

from support import BUILD, ROOT, missing, run

PROGRAM = BUILD / "bench/tessera-bench-sockets"
FILE = ROOT / "docs/results/predicted/sockets.csv"


def test_the_file_is_what_the_program_writes():
    if not PROGRAM.exists():
        missing("benchmark: -DTESSERA_BENCH=ON")
    kept = list(csv.DictReader(FILE.open(encoding="utf-8")))
    machine = kept[0]["machine"]
    made = list(csv.DictReader(io.StringIO(run([PROGRAM, ROOT / machine]).ok().out)))
    mine = [row for row in kept if row["machine"] == machine]
    assert [(r["routine"], r["n"], r["home"]) for r in made] == [(r["routine"], r["n"], r["home"]) for r in mine]
    for new, old in zip(made, mine):
        for name in ("unknowing_s", "knowing_s", "floor_s"):
            assert float(new[name]) == pytest.approx(float(old[name]), rel=5e-3), (new, old)


def test_what_is_no_machine_is_refused():
    if not PROGRAM.exists():
        missing("benchmark: -DTESSERA_BENCH=ON")
    done = run([PROGRAM, "gpus*8"])
    assert done.code == 1 and "expected" in done.err
