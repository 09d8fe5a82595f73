# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The driver: that cases run and are checked, and what it refuses."""
import csv
import json
from pathlib import Path

import pytest

from support import BUILD

REAL = ["gemm d 60 61 62", "gemmt d 61 40", "symm d 60 61", "syrk d 61 40", "syr2k d 61 40",
        "trmm d 60 61", "trsm d 60 61"]
HOST = ["--engine", "host", "--repeat", "2", "--rate-seconds", "0"]


def of_type(kind):
    return [line.replace(" d ", f" {kind} ") for line in REAL]


def test_table_and_csv(driver):
    done = driver.run(*REAL, *HOST, "--devices", "2", "--csv", "x.csv")
    assert done.code == 0, repr(done)
    assert [line.split()[-1] for line in done.out.splitlines()] == ["check"] + 7 * ["ok"]
    with open("x.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [r["op"] for r in rows] == [line.split()[0] for line in REAL]
    assert all(r["devices"] == "2" and float(r["median_s"]) > 0 for r in rows)
    driver.run(REAL[0], *HOST, "--csv", "x.csv")
    with open("x.csv", encoding="utf-8") as file:
        assert file.read().count("op,type") == 1


@pytest.mark.parametrize("words", [
    "home=1,0,h", "home=u", "side=right uplo=upper transa=T diag=unit", "by=plan", "by=async",
    "memory=60K", "repeat=0", "alpha=-1.5", "sample=0.001", "settle=0.01", "check"])
def test_words(driver, words):
    """Each word with each operation that has it."""
    has = {"side": "symm trmm trsm", "uplo": "", "diag": "trmm trsm", "transa": ""}
    lines = []
    for line in REAL:
        op = line.split()[0]
        mine = [w for w in words.split() if op in has.get(w.split("=")[0], "") or
                (w[:4] == "uplo" and op != "gemm") or (w[:6] == "transa" and op != "symm") or
                w.split("=")[0] not in has]
        lines.append(line + " " + " ".join(mine))
    rows = driver.rows(*lines, *(HOST if "repeat" not in words else HOST[:2] + HOST[4:]),
                       "--devices", "3")
    assert len(rows) == 7 and all(r["correct"] for r in rows)


@pytest.mark.parametrize("kind", "cz")
def test_complex(driver, kind):
    lines = [line + " transa=C" if line.split()[0] in ("gemm", "trsm", "trmm") else line
             for line in of_type(kind)]
    lines += [f"hemm {kind} 60 61 side=right", f"herk {kind} 61 40 transa=C", f"her2k {kind} 61 40"]
    assert len(driver.rows(*lines, *HOST, "--devices", "2")) == 10


def test_short_types(driver):
    assert len(driver.rows(*(f"gemm {kind} 60 61 62" for kind in "shbt"), *HOST)) == 4


def test_triangles_stay_finite(driver):
    assert len(driver.rows("trmm s 40 40", "trsm s 40 40", *HOST[:2], "--repeat", "1000")) == 2


def test_contexts_share_host_memory(driver):
    lines = [f"gemm d {n} {n} {n} devices={d} home={h}" for d in (1, 2, 4) for n in (32, 48)
             for h in ("h", "0,0,0", "3,u,h")]
    rows = driver.rows(*lines, *HOST)
    assert [r["home"] for r in rows[::3]] == 6 * ["h,h,h"]
    assert [r["home"] for r in rows[2::3]] == 2 * ["0,u,h"] + 2 * ["1,u,h"] + 2 * ["3,u,h"]


def test_turns(driver):
    """Cases of one name are measured in turn, on contexts of their own."""
    rows = driver.rows("gemm d 40 40 40 turn=a devices=2", "gemm d 40 40 40 turn=a devices=1",
                       "gemm d 40 40 40 turn=a engine=cpu", "gemm d 40 40 40 turn=b", *HOST)
    assert [r["devices"] for r in rows[:3]] == [2, 1, 0]
    driver.refuses("must have the same type", "gemm d 40 40 40 turn=a", "gemm s 40 40 40 turn=a", *HOST)


def test_composed(driver):
    """X is on the device when the product begins: one matrix less goes there, and no more comes
    back."""
    n = 96
    apart, whole = driver.rows(f"composed d {n} by=call turn=a", f"composed d {n} by=async turn=a",
                               *HOST, "--devices", "1", "--tile", "24")
    matrix = n * n * 8
    assert apart["moved"]["host_to_device"] - whole["moved"]["host_to_device"] == matrix
    assert whole["moved"]["device_to_host"] == 2 * matrix
    assert whole["returned_s"] > 0 and whole["median_s"] > whole["returned_s"]


def test_peers_of_the_cpu(driver):
    row, door = driver.rows("gemm d 40 40 40 home=u engine=cpu peer=blas",
                            "gemm d 40 40 40 home=u by=door peer=blas sample=0.0005",
                            "--repeat", "5", "--rate-seconds", "0")
    assert len(row["times_s"]) == len(row["peer_times_s"]) == 5
    assert door["peer"] == "blas" and door["peer_s"] > 0 and door["correct"]
    rows = driver.rows(*REAL, "--engine", "cpu", "--home", "u", "--peer", "blas", "--repeat", "2")
    assert all(r["correct"] for r in rows)
    assert sum("peer_s" in r for r in rows) >= 6  # not every BLAS has gemmt


def test_strategys_and_budgets(driver):
    small, large, words = driver.rows(
        "gemm d 300 300 300 by=plan memory=400K repeat=0", "gemm d 300 300 300 by=plan",
        "gemm d 300 300 300 by=plan strategy='grid=1x2 tile=100 nblock=0,0,0 taper=0'", *HOST[:2],
        "--devices", "2", "--rate-seconds", "0", "--repeat", "2")
    assert small["budget"] == 400000 and small["plan"]["c_block"] and not large["plan"]["c_block"]
    assert small["words"] == "by=plan memory=400K"
    assert [d["host_to_device"] for d in small["loads"]] == [d["host"] for d in
                                                            small["plan"]["loads"]]
    assert words["plan"]["grid"] == [1, 2] and words["plan"]["tile"]["m"] == 100


def test_rates_and_timelines(driver):
    done = driver.run("gemm d 48 48 48", "--engine", "host", "--devices", "3", "--repeat", "2",
                      "--rate-seconds", "0.01", "--timeline", "t.json")
    assert done.code == 0 and "3 at once, for 10 ms" in done.err
    with open("t.json", encoding="utf-8") as file:
        assert json.load(file)["traceEvents"]


def test_lists(driver):
    with open("list", "w", encoding="utf-8") as file:
        file.write("# a list\n\ngemm d 40 40 40   home='h,h,0'\nsyrk d 40 40 beta=0\n")
    assert [r["op"] for r in driver.rows("--cases", "list", "gemm d 30 30 30", *HOST)] == \
        ["gemm", "syrk", "gemm"]
    with open("list", "a", encoding="utf-8") as file:
        file.write("gemm d 40 x 40\n")
    driver.refuses("list:5: N 'x': not a whole number", "--cases", "list")


def test_a_case_that_fails_is_left_out(driver):
    done = driver.run("gemm d 40 40 40 home=0,0,h devices=1", "gemm d 40 40 40 engine=abacus",
                      "gemm d 30 30 30", *HOST)
    assert done.code == 1 and "case:2: " in done.err
    assert sum(line.endswith(" ok") for line in done.out.splitlines()) == 2


def test_wrong_results_are_found(driver, program, monkeypatch):
    """A BLAS whose products do nothing: the driver says so, and no data set keeps what it made."""
    wrong = BUILD / "tests/libpartial_blas.so"
    if not wrong.exists():
        pytest.skip("built without tests")
    monkeypatch.setenv("TESSERA_CPU_BLAS", str(wrong))
    done = driver.run("gemm d 40 40 40 home=u engine=cpu", "--repeat", "2")
    assert done.code == 1 and "the result is wrong" in done.err
    assert done.out.rstrip().endswith("WRONG")
    code, _, err = program("rates", "--n 40 --homes u --devices 0 --engine cpu --peer none --csv r.csv")
    assert code == 1 and "see above" in err and not Path("r.csv").exists()


def test_predictions(driver):
    four, pair = driver.rows("gemm d 4096 4096 4096 devices=0,2", "gemm d 4096 4096 4096 devices=0,1",
                             "--predict", "--machine", "gpu*4 pcie:10/pair")
    assert four["predicted_s"] < pair["predicted_s"] and "median_s" not in four
    assert four["set"] == "0,2" and four["devices"] == 2 and four["plan"]["commands"] > 0
    driver.refuses("device 8 is asked for", "gemm d 64 64 64 devices=9", "--predict", "--machine",
                   "gpu*4", code=1)


CASE = "gemm d 40 40 40"


@pytest.mark.parametrize("message, words", [
    ("no case is given", []),
    ("OP gemn: no such operation", ["gemn d 8 8 8"]),
    ("too few arguments: gemm TYPE M N K", ["gemm d 8 8"]),
    ("TYPE d: hemm takes c or z", ["hemm d 8 8"]),
    ("TYPE h: symm takes", ["symm h 8 8"]),
    ("did you mean --home", [CASE + " hom=h"]),
    ("three places for A,B,C", [CASE + " home=h,q,h"]),
    ("--by plane: must be call, plan, async or door", [CASE + " by=plane"]),
    ("--peer mkl: must be cublasxt, blas or none", [CASE + " peer=mkl"]),
    ("--peer-repeat 3: there is no peer", [CASE + " peer-repeat=3"]),
    ("--repeat 1001: must be 0 to 1000", [CASE + " repeat=1001"]),
    ("--rate-seconds -1: must be 0 to 600", [CASE, "--rate-seconds=-1"]),
    ("--sample x: not a number", [CASE + " sample=x"]),
    ("--side left: gemm has no such choice", [CASE + " side=left"]),
    ("--beta 0: trsm has no beta", ["trsm d 8 8 beta=0"]),
    ("--engine cuda: the door takes its settings", [CASE + " by=door engine=cuda"]),
    ("--strategy tile=8: a composed case has no such choice", ["composed d 8 strategy=tile=8"]),
    ("trsm takes s, d, c or z", ["composed h 8"]),
    ("--warm-up 1: does nothing with --repeat 0", [CASE + " repeat=0 warm-up=1"]),
    ("a quote is open", [CASE + " strategy='tile=8"]),
    ("--machine is needed", [CASE, "--predict"]),
    ("--peer blas: does nothing in a prediction", [CASE + " peer=blas", "--predict"]),
    ("--engine: does nothing with --predict", [CASE, "--predict", "--engine", "host"]),
    ("--timeline: does nothing with --predict", [CASE, "--predict", "--machine", "gpu*2",
                                                 "--timeline", "x.json"]),
    ("--cases no: No such file", ["--cases", "no"]),
])
def test_refused(driver, message, words):
    driver.refuses(message, *words)


# ---- Across processes, as far as no MPI is needed ----


def test_mpi_predictions(mpi_driver):
    machine = ["--predict", "--machine", "host:200 gpu*2@nvlink:100 pcie:25 rate:7 net:10"]
    row, blocks = mpi_driver.rows("pgemm d 20480 20480 20480 grid=2x2",
                                  "pgemm d 20480 20480 20480 grid=2x2 blocks=5120x5120 depth=1024 "
                                  "lookahead=1", *machine)
    assert row["processes"] == 4 and row["predicted_s"] > 0 and row["network"] == 10e9
    assert blocks["blocks_down"] == 2 and blocks["depth"] == 1024 and blocks["lookahead"] == 1


@pytest.mark.parametrize("message, words", [
    ("--grid is needed", ["pgemm d 64 64 64"]),
    ("OP gemm: must be pgemm", ["gemm d 64 64 64 grid=2x2"]),
    ("TYPE t: must be s, d, c, z, h or b", ["pgemm t 64 64 64 grid=2x2"]),
    ("--lookahead 17: must be 0 to 16", ["pgemm d 64 64 64 grid=2x2 lookahead=17"]),
    ("--repeat 3: does nothing in a prediction", ["pgemm d 64 64 64 grid=2x2 repeat=3"]),
    ("--transport mpi: does nothing in a prediction", ["pgemm d 64 64 64 grid=2x2 transport=mpi"]),
])
def test_mpi_refused(mpi_driver, message, words):
    mpi_driver.refuses(message, "--predict", "--machine", "gpu*2", *words)
