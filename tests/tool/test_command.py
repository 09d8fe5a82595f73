# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The command as users meet it: help, usage, settings, machines."""
import json
import os
import re

import pytest

from support import DIGITS, HERE, ROOT, limited, tessera


# ---- Help and usage ----


def test_help():
    assert fits(tessera("--help").ok("commands:", "TESSERA_ENGINE").out)
    tessera("--version").ok("^tessera [0-9]")


def fits(text):
    """80 columns, but for examples and the like, which are copied whole."""
    text = text.split("\nexample:")[0]
    return [line for line in text.splitlines() if len(line) > 80 and not re.match(r"usage|  \S+$", line)] == []


@pytest.mark.parametrize("command", ["gemm", "solve", "plan", "machine", "run", "bench", "knobs", "tuning"])
def test_help_of_commands(command):
    done = tessera(f"{command} --help").ok("example:")
    assert fits(done.out), done
    assert tessera(f"help {command}").ok().out == done.out


def test_help_of_others():
    tessera("help nonsense").refused("unknown command 'nonsense'; the commands are gemm, .*bench")
    tessera("help gem").refused("unknown command 'gem': did you mean 'gemm'?")
    tessera("help gemm a.npy").ok("usage: tessera gemm")
    tessera("help plan gemm d").refused("unexpected argument 'd'")
    assert tessera("help").ok().out == tessera("--help").ok().out


@pytest.mark.parametrize("words, message", [
    ("", ""),
    ("gemn", "did you mean 'gemm'"),
    ("gemm --tranb T", "did you mean --transb"),
    ("gemm D", ""),
    ("--hlep", "unknown option --hlep; give a command first"),
    ("gemm D D -o", "-o needs a value: C.npy"),
    ("gemm D D --transb T", "-o C.npy"),
    ("gemm D D --transb T -o c.npy --type q", ""),
    ("gemm D D --transb T -o c.npy --beta 1", "--c"),
    ("gemm D D --transb T -o c.npy --timeline t.png", ""),
    ("solve D D -o x.npy", "general matrices are not solved yet"),
    ("solve D D --spd", "-o X.npy"),
    ("solve D D -o x.npy --triangular left", "--triangular left: must be lower or upper"),
    ("solve D D -o x.npy --spd --triangular lower", "--spd: does nothing with --triangular"),
    ("solve D D -o x.npy --spd --trans T", "--trans: does nothing without --triangular"),
    ("plan gemm d 8 8", ""),
])
def test_wrong_usage(words, message):
    tessera(re.sub(r"\bD\b", str(DIGITS), words)).refused(re.escape(message))


# ---- Machines and settings ----


def test_machine():
    tessera("machine", "--machine", HERE).ok()
    shown = tessera("machine --json", "--machine", HERE)
    assert len(shown.json()["devices"]) == 8
    with open("machine.json", "w", encoding="utf-8") as file:
        file.write(shown.out)
    tessera("plan gemm d 4096 4096 4096 --machine machine.json").ok()
    tessera("machine --machine missing.json").exits(1)
    tessera("plan gemm d 64 64 64", "--machine", "host:200 gpu*").refused(r"\^", code=1)


@pytest.mark.parametrize("memory", ["", "--memory 64M"])
def test_a_small_stack(memory):
    tessera("plan gemm d 8192 8192 8192 " + memory, "--machine", ROOT / "machines/h200x8.json",
            under=limited("-s 64")).ok()


@pytest.mark.parametrize("words, settings, message", [
    ("machine --machine ./pipe", {}, "pipe is a pipe"),
    ("machine --machine /dev/zero", {}, "/dev/zero is a device"),
    ("machine --engine cpu", {"TESSERA_SETTINGS": "pipe"}, "pipe is a pipe"),
    ("machine --engine cpu", {"TESSERA_SETTINGS": "/dev/zero"}, "zero is a device"),
    (f"gemm pipe {DIGITS} -o bad.npy", {}, "pipe: is not a file"),
])
def test_files_without_end(words, settings, message):
    """They would be waited for, or read for ever."""
    os.mkfifo("pipe")
    tessera(words, env=settings).refused(message, code=1)


# ---- The page of settings ----


def names_in(pattern, *files):
    """The settings in what matches."""
    found = set()
    for file in files:
        for part in re.findall(pattern, file.read_text(encoding="utf-8"), re.MULTILINE):
            found |= set(re.findall(r"TESSERA_[A-Z_]*[A-Z]", part))
    return found


def sources(*folders):
    return [f for folder in folders for f in (ROOT / folder).rglob("*.[ch]")]


TABLE = ROOT / "src/base/settings/table.c"


def settings_of_table():
    return names_in('"TESSERA_[A-Z_]+"', TABLE)


def test_settings_are_told():
    """Every setting that the code reads is on the page of settings and in what --help prints, and none
    is there that nothing reads."""
    table = settings_of_table()
    assert table
    assert names_in(r"^\| `TESSERA_[A-Z_]+`", ROOT / "docs/reference/settings.md") == table
    assert set(re.findall(r"^  (TESSERA_[A-Z_]+)", tessera("--help").ok().out, re.MULTILINE)) == table


def test_settings_are_read():
    """What is read stands between quotes; the table is no reader. TESSERA_RUN_PID is between the command
    and the doors."""
    files = [f for f in sources("src", "tools") if f != TABLE]
    assert names_in('"TESSERA_[A-Z_]+"', *files) - {"TESSERA_RUN_PID"} == settings_of_table()


def test_documents_tell_of_settings_that_exist():
    """Or of options of the build; TESSERA_..._H guard headers, TESSERA_MODEL and its like are versions of
    symbols."""
    lists = [ROOT / "CMakeLists.txt", *(ROOT / "src").rglob("CMakeLists.txt")]
    build = names_in(r"(?:option|set)\(TESSERA_[A-Z_]+", *lists)
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "include").rglob("*.h")]
    told = names_in("TESSERA_[A-Z_]+", *pages) - {"TESSERA_RUN_PID", "TESSERA_MODEL", "TESSERA_PRIVATE"}
    told = {name for name in told if not name.endswith("_H")}
    assert told - settings_of_table() - build == set()


def test_tuned_constants():
    """The command prints those of src/: a row for each of theirs. Each says what it does in a sentence, and
    where its value comes from."""
    printed = tessera("tuning").ok().out
    rows = [line for line in printed.splitlines() if line.startswith("| `")]
    constants = [name for file in (ROOT / "src").rglob("tuning.def")
                 for name in re.findall(r"^TSR_(?:WHOLE|REAL|GUESS)\(([A-Z_0-9]+)",
                                        file.read_text(encoding="utf-8"), re.MULTILINE)]
    assert len(set(constants)) == len(constants) > 0
    assert sorted(re.match(r"\| `([A-Z_0-9]+)", row)[1] for row in rows) == sorted(constants)
    shown = [row["name"] for row in tessera("tuning --json").json()["constants"]]
    assert sorted(shown) == sorted(constants)
    assert [row for row in rows if not re.search(r"\. \| (measured|predicted|chosen)[:,]", row)] == []


# ---- The benchmark: that it runs, not how fast ----


def bench(words):
    return tessera("bench --engine host --repeat 2 --rate-seconds 0 " + words)


def test_bench():
    done = bench("--n 48,96 --devices 1,2 --csv b.csv --timeline b.json").ok()
    assert len(re.findall(" ok$", done.out, re.MULTILINE)) == 4
    with open("b.csv", encoding="utf-8") as file:
        head, *rows = file.read().splitlines()
    assert head.startswith("op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,")
    assert len(rows) == 4 and all(re.match("gemm,d,.*,ok,,,$", row) for row in rows)
    with open("b.json", encoding="utf-8") as file:
        json.load(file)


def test_bench_of_routines():
    done = bench("--op gemm,syrk,trsm --type d,z --n 40 --home 1,u,0 --uplo upper --transa T")
    done.ok("^ztrsm 40 .* ok$")
    assert len(re.findall(" ok$", done.out, re.MULTILINE)) == 6


def test_bench_holds_devices_at_work():
    tessera("bench --n 48 --repeat 2 --rate-seconds 0.01 --engine host --devices 1,3").ok().warns(
        "3 at once, for 10 ms")


def test_bench_as_json():
    shown = bench("--type z --shape 20x30x40 --transa C --home 0,h,u --devices 2 --json").json()
    assert [row["correct"] for row in shown] == [True]


def test_bench_beside_a_peer():
    tessera("bench --n 32 --repeat 2 --engine cpu").ok(r"^dgemm 32 .* \d+\.\d\d ok$")


def test_bench_fits_80_columns():
    """Emulated devices have no floor: their rates are only named."""
    done = bench("--shape 300x200x100 --devices 2 --details").ok(
        r"^dgemm 300x200x100 .* [MGT]FLOP/s +- +- ok$", "^  predicted ")
    assert max(map(len, done.out.splitlines())) < 80 and "floor " not in done.out.splitlines()[2]


def test_bench_draws_nothing():
    bench("--n 8 --plot x.svg").refused("--plot: .* --csv FILE.csv", "bench/rates.py --from FILE.csv --plot")


@pytest.mark.parametrize("words, message", [
    ("--n x", "--n x: must be at most"),
    ("--shape 8x8", "--shape 8x8: must be at most"),
    ("--n 8 --shape 8x8x8", "choose one"),
    ("--op syrk,syrq", "--op syrq: .* did you mean syrk"),
    ("--type dd", "--type dd: must be types such as"),
    ("--op symm --type h", "--type h: symm takes"),
    ("--op hemm", "--type d: hemm takes c or z"),
    ("--peer mkl", "--peer mkl: must be cublasxt, blas or none"),
    ("--peer none --peer-repeat 3", "--peer-repeat: does nothing with --peer none"),
    ("--repeat 0", "--repeat 0: must be 1 to 1000"),
    ("--devices 0", "--devices 0: must be numbers of 1 to 1000"),
    ("--home h,q,h", "three places for A,B,C"),
    ("--side left", "--side left: gemm has no such choice"),
    ("regular", "unexpected argument 'regular'"),
])
def test_bench_refuses(words, message):
    tessera("bench " + words).refused(message)


def test_bench_writes_nowhere():
    bench("--n 8 --csv nowhere/b.csv").refused("nowhere/b.csv", code=1)


