# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Programs that are started with descriptors 0, 1 or 2 closed, and secondary outputs that cannot be written:
the result is right, and nothing but the result is in its file."""
import csv
import itertools
import os
import re
import struct

import pytest

from support import BUILD, TESSERA, limited, missing, on_processes, run, write_npy

CLOSED = [" ".join(f"{number}<&-" for number in numbers)
          for count in (1, 2, 3) for numbers in itertools.combinations(range(3), count)]
# 2 (40 x 30) times 1 (30 x 50).
RIGHT = struct.pack("<2000d", *2000 * [60.0])


@pytest.fixture(autouse=True)
def matrices(clean):
    write_npy("a.npy", "<f8", False, (40, 30), struct.pack("<1200d", *1200 * [2.0]))
    write_npy("b.npy", "<f8", False, (30, 50), struct.pack("<1500d", *1500 * [1.0]))


def closed(which, *command, **settings):
    return run(["sh", "-c", f'exec "$@" {which}', "sh", *command], **settings)


def is_right(path="c.npy"):
    with open(path, "rb") as file:
        whole = file.read()
    return len(whole) == 128 + len(RIGHT) and whole[128:] == RIGHT


@pytest.mark.parametrize("more", [[], ["--json"], ["--verify", "--details"], ["--timeline", "t.svg"],
                                  ["--repeat", "2", "--progress"]])
@pytest.mark.parametrize("which", CLOSED)
def test_gemm(which, more):
    """The library's messages are on, and it reads and writes files of its own, too."""
    closed(which, TESSERA, "gemm", "a.npy", "b.npy", "-o", "c.npy", "--engine", "host", "--devices", "2", *more,
           env={"TESSERA_LOG": "debug"})
    assert is_right()
    if "--timeline" in more:
        with open("t.svg", encoding="utf-8") as file:
            assert re.fullmatch(r"(<\?xml[^\n]*\n)?<svg .*</svg>\n?", file.read(), re.DOTALL)


@pytest.mark.parametrize("which", CLOSED)
def test_texts(which):
    """Pictures, plans and columns of numbers have nothing of what the command prints."""
    closed(which, TESSERA, "plan", "gemm", "d", "512", "512", "512", "--engine", "host", "--devices", "2",
           "--timeline", "t.json", env={"TESSERA_LOG": "debug"})
    with open("t.json", encoding="utf-8") as file:
        assert file.read().lstrip().startswith(("{", "["))
    closed(which, BUILD / "bench/tessera-bench", "gemm d 64 64 64", "--engine", "host", "--devices", "1",
           "--rate-seconds", "0.01", "--csv", "rows.csv", env={"TESSERA_LOG": "debug"})
    with open("rows.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 2 and len(rows[0]) == len(rows[1]), rows


@pytest.mark.slow
@pytest.mark.parametrize("which", CLOSED)
def test_the_machine_that_is_kept(which):
    """The file in which the library keeps a measurement, and its lock."""
    closed(which, TESSERA, "machine", "--probe", "--engine", "host", "--devices", "2",
           env={"TESSERA_LOG": "debug", "XDG_CACHE_HOME": os.getcwd()})
    for folder, _, names in os.walk("tessera"):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                assert re.match(r"\s*({|$)", file.read()), name


def test_the_program_has_them_closed_again():
    """A program that the command runs finds its descriptors as the command was given them."""
    closed("0<&- 2<&-", TESSERA, "run", "--", "sh", "-c", "ls /proc/$$/fd > fds")
    with open("fds", encoding="utf-8") as file:
        assert not {"0", "2"} & set(file.read().split())


# ---- Outputs that cannot be written ----

SECONDARY = ["t.svg", "t.json"]


@pytest.mark.parametrize("name", SECONDARY)
def test_a_full_device(name):
    os.symlink("/dev/full", name)
    run([TESSERA, "gemm", "a.npy", "b.npy", "-o", "c.npy", "--engine", "host", "--devices", "2", "--timeline", name]
        ).refused(f"--timeline {re.escape(name)}: .*No space left", code=1).says("time ")
    assert is_right()


@pytest.mark.parametrize("name", SECONDARY)
def test_a_limit_of_files(name):
    """The result has 16.1 kB, and the timeline of a product of many blocks more."""
    done = run([*limited("-f 32"), TESSERA, "gemm", "a.npy", "b.npy", "-o", "c.npy", "--engine", "host", "--devices",
                "2", "--tile", "4", "--timeline", name])
    done.refused(f"--timeline {re.escape(name)}: .*too large", code=1)
    assert is_right() and not os.path.exists(name)


def test_results_on_a_full_stdout():
    """The report cannot be printed: the result and the timeline are there."""
    closed(">/dev/full", TESSERA, "gemm", "a.npy", "b.npy", "-o", "c.npy", "--engine", "host", "--devices", "2",
           "--timeline", "t.svg").refused("cannot write to the standard output", code=1)
    assert is_right() and os.path.getsize("t.svg") > 0


def test_one_picture_does_not_cost_the_other():
    os.symlink("/dev/full", "t.svg")
    run([TESSERA, "plan", "gemm", "d", "512", "512", "512", "--engine", "host", "--devices", "2", "--timeline",
         "t.svg", "--machine-svg", "m.svg"]).refused("--timeline t.svg: .*No space left", code=1)
    assert os.path.getsize("m.svg") > 0


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_pgemm(processes):
    program = BUILD / "bin/tessera-pgemm"
    if not program.exists():
        missing("MPI in this build")
    os.symlink("/dev/full", "t.json")
    on_processes(processes, program, "run", "a.npy", "b.npy", "-o", "c.npy", "--engine", "host", "--devices", "1",
                 "--timeline", "t.json").refused("--timeline t.json: .*No space left", code=1).says("first product")
    assert is_right()
