# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""tessera pgemm and related commands, as users call them. Results must equal those of tessera gemm byte
by byte, as is possible with data of small integers."""
import json
import os
import re
from pathlib import Path

import pytest

from support import (BUILD, DIGITS, ROOT, TESSERA, data_of, on_processes, tessera, write_npy)

pytestmark = pytest.mark.slow

SUMMIT = ROOT / "machines/v100x3-summit.json"
BENCH = BUILD / "bench/tessera-bench-mpi"


def pgemm(processes, words, *files):
    """Multiplies the given files, or else the digits by themselves."""
    return on_processes(processes, TESSERA, "pgemm", *(files or (DIGITS, DIGITS)), *words.split())


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Files of A' A and of A (A' A) - 2 A, as tessera gemm computes them."""
    folder = tmp_path_factory.mktemp("expected")
    gram, big = folder / "gram.npy", folder / "big.npy"
    tessera("gemm --transa T --engine cpu", DIGITS, DIGITS, "-o", gram).ok()
    tessera("gemm --engine cpu --beta -2", DIGITS, gram, "--c", DIGITS, "-o", big).ok()
    return gram, big


def same(a, b):
    return Path(a).read_bytes() == Path(b).read_bytes()


# ---- Products ----


@pytest.mark.parametrize("processes", [1, 2, 3, 4])
def test_products(expected, processes):
    gram, big = expected
    pgemm(processes, "--transa T -o c.npy --engine cpu" + (" --block 7" if processes > 1 else "")).ok()
    assert same("c.npy", gram)
    pgemm(processes, f"-o c.npy --force --engine cpu --beta -2 --c {DIGITS}", DIGITS, gram).ok()
    assert same("c.npy", big)


def test_other_order_and_grid(expected):
    """A file in Fortran order with the same numbers is the transpose."""
    write_npy("turned.npy", "<f8", True, (64, 1797), data_of(DIGITS))
    pgemm(4, "--transa T --transb T -o c.npy --engine cpu --grid 4x1", DIGITS, "turned.npy").ok()
    assert same("c.npy", expected[0])


@pytest.mark.parametrize("processes", [2, 4])
def test_blocks_of_any_extents(expected, processes):
    """The digits are 1797 x 64; A' A is 64 x 64, over k = 1797."""
    lists = "--m-ends 1,30,64 --n-ends 5,9,10,60,64 --k-ends 700,701,1500,1797"
    pgemm(processes, f"--transa T -o c.npy --engine cpu {lists}").ok()
    assert same("c.npy", expected[0])
    pgemm(processes, f"-o c.npy --force --engine cpu --beta -2 --c {DIGITS} --m-ends 3,1000,1797 --block 20",
          DIGITS, expected[0]).ok()
    assert same("c.npy", expected[1])
    for words, message in (("--m-ends 1,30", "--m-ends 1,30: ends at 30, and m is 64"),
                           ("--k-ends 5,5,1797", "--k-ends 5,5,1797: must increase"),
                           ("--n-ends 1;64", "must be whole numbers with commas")):
        pgemm(processes, "--transa T -o d.npy --engine cpu " + words).refused(message)


def test_cut_of_the_paper(expected):
    """Blocks and depth by the rules of Herault et al. on a square grid; the result is the same."""
    done = pgemm(4, "--transa T -o c.npy --engine host --devices 4 --memory 100K --block 8 --cut paper --details --check").ok(
        "on 2 x 2 processes")
    assert same("c.npy", expected[0]) and "blocks" in done.out
    pgemm(2, "--transa T -o d.npy --cut paper --depth 8").refused("--depth: does nothing with --cut paper")
    pgemm(2, "--transa T -o d.npy --engine host --memory 100K --block 1000 --cut paper").exits(1).warns(
        "tiles of 1000 do not fit")


def test_emulated_devices_and_blocks(expected):
    pgemm(2, "--transa T -o c.npy --engine host --devices 4 --depth 100 --lookahead 1 --blocks 17x23 "
          "--check").ok()
    assert same("c.npy", expected[0])


def test_blocks_that_look_like_their_number():
    """--blocks has extents. Who takes them for counts is told before the plan takes minutes, and what to give."""
    many = "plan pgemm d 200000 200000 200000 --grid 6x6 --machine v100x3-summit --blocks "
    tessera(many + "4x4").refused("--blocks 4x4: C's blocks are to have 4 x 4 elements, .* 69455556 products .*: --blocks "
                                  "8334x8334", code=1)
    tessera("plan pgemm d 20000 20000 20000 --grid 2x2 --machine v100x3-summit --blocks 5000x5000").ok().quiet()
    assert "extents (not the number) of C's blocks" in " ".join(tessera("plan pgemm --help").out.split())


def test_converted():
    pgemm(2, "--transa T --type z -o c.npy --engine cpu").ok("complex fp64")


def test_options_of_several_processes():
    for words in ("--block 7", "--depth 8", "--lookahead 1", "--blocks 2x2", "--cut paper", "--network 1"):
        pgemm(1, "--transa T -o c.npy --engine cpu " + words).refused(f"{words.split()[0]}: does nothing on one process")


@pytest.mark.parametrize("processes", [2, 4])
def test_reproducible_or_refused(monkeypatch, processes):
    """Native products would have other bits on each number of processes; emulated ones have those of one."""
    monkeypatch.setenv("TESSERA_REPRODUCIBLE", "1")
    for arithmetic in ("native", "auto"):
        monkeypatch.setenv("TESSERA_ARITHMETIC", arithmetic)
        fails(pgemm(processes, "--transa T -o c.npy --engine host"), "TESSERA_ARITHMETIC=emulated")
        assert not Path("c.npy").exists()
        fails(plan("900 700 500 --grid 2x2"), "TESSERA_ARITHMETIC=emulated")
    monkeypatch.setenv("TESSERA_ARITHMETIC", "emulated")
    for number in (1, processes):
        pgemm(number, f"--transa T -o c{number}.npy --engine host").ok()
    assert same("c1.npy", f"c{processes}.npy")
    fails(plan("900 700 500 --grid 2x2 --depth 64"), "which are not cut")
    fails(plan("900 700 500 --grid 2x2 --cut paper --arithmetic emulated"), "which are not cut")


MOVED = r"^(\(\d, \d\)|  planned) +" + " +".join([r"([\d.e+-]+)"] * 5) + "$"


def moved_of(text):
    """Lines of five numbers: each process's, counted and planned."""
    lines = [tuple(map(float, m.groups()[1:])) for m in re.finditer(MOVED, text, re.MULTILINE)]
    return lines[::2], lines[1::2]


def test_bytes_moved():
    """Counted bytes are those planned; on a row of processes A's panels travel, and each is sent once."""
    write_npy("s.npy", "<f8", True, (60, 60), bytes(8 * 60 * 60))
    done = pgemm(3, "-o c.npy --engine host --devices 3 --grid 1x3 --block 7 --details", "s.npy", "s.npy").ok()
    counted, planned = moved_of(done.out)
    assert len(counted) == 3 and counted == planned
    assert sum(line[4] for line in counted) == pytest.approx(sum(line[3] for line in counted) / 2)
    assert all(from_host > 0 and to_host > 0 for from_host, _, to_host, _, _ in counted)


@pytest.mark.parametrize("words", ["--type h", "--type b", "--engine host --devices 3 --type h", "--engine host --devices 3 --type b"])
def test_short_types(words):
    """Ones: sums to 60 are exact in both."""
    write_npy("s.npy", "<f2", True, (60, 60), b"\0\x3c" * 3600)
    tessera("gemm s.npy s.npy -o expected.npy --engine cpu --type " + words[-1]).ok()
    pgemm(3, "-o c.npy --block 7 --depth 10 " + words, "s.npy", "s.npy").ok()
    assert same("c.npy", "expected.npy")


def test_timeline():
    pgemm(2, "--transa T -o c.npy --engine host --devices 2 --timeline t.json --repeat 1").ok()
    with open("t.json", encoding="utf-8") as file:
        text = json.dumps(json.load(file)["traceEvents"])
    assert "process (0, 0), messages" in text and "panels of A, slot 0" in text


def test_progress():
    """Lines if they are asked for, though nothing is a terminal; else none."""
    write_npy("square.npy", "<f8", False, (2800, 2800), bytes(8 * 2800 * 2800))
    words = "-o c.npy --force --engine cpu --repeat 2 "
    on_devices = "-o c.npy --force --engine host --devices 2 --progress"
    pgemm(1, on_devices, "square.npy", "square.npy").ok("GFLOP/s").warns(
        r"^tessera pgemm: 100 %  [\d.]+ [MGT]FLOP/s")
    assert pgemm(2, words, "square.npy", "square.npy").ok().err == ""


def test_explained():
    pgemm(2, "--transa T -o c.npy --engine cpu --details").ok(
        "on a grid of 1 x 2", r"^(Bound|Mostly bound) by .*\(\d+ % of the time")
    done = pgemm(2, "--transa T -o c.npy --engine host --devices 2 --force").ok("^On emulated devices: a rehearsal")
    assert "ound by" not in done.out


# ---- What is wrong ----


def fails(done, message):
    """The launcher chooses the exit code."""
    assert done.code != 0, repr(done)
    return done.warns(message)


def test_inner_extents():
    done = fails(pgemm(2, "-o c.npy --engine cpu"), "inner extents differ")
    assert done.err.count("inner extents differ") == 1
    assert not os.path.exists("c.npy")


def test_no_file():
    fails(pgemm(2, "-o c.npy", DIGITS, "no.npy"), "no.npy")


@pytest.mark.parametrize("words, message", [("", "-o C.npy"), ("-o c.npy --grid 3x1", "does not match"),
                                            ("-o c.npy --type t", "type s, d, c, z, h or b")])
def test_wrong_usage(words, message):
    fails(pgemm(2, "--transa T " + words), message)


@pytest.mark.parametrize("wrong", ["--blocks 8", "--lookahead 99", "--network -1", "--memory lots",
                                   "--machine gpuu*2"])
def test_wrong_values_are_told_once(wrong):
    done = pgemm(2, "--transa T -o c.npy " + wrong)
    told = [line for line in done.err.splitlines() if "tessera pgemm: " + wrong.split()[0] in line]
    assert len(told) == 1, repr(done)


# ---- Files ----


def test_output_is_not_lost():
    os.symlink(DIGITS, "hard.npy")
    before = Path(DIGITS).read_bytes()
    done = fails(pgemm(2, "--transa T -o hard.npy --force --engine cpu"), "-o hard.npy: this is the input")
    assert done.err.count("this is the input") == 1 and Path(DIGITS).read_bytes() == before
    Path("c.npy").write_text("old\n", encoding="utf-8")
    fails(pgemm(2, "--transa T -o c.npy --engine cpu"), "-o c.npy: the file exists; --force replaces it")
    assert Path("c.npy").read_text(encoding="utf-8") == "old\n"
    fails(pgemm(2, "--transa T -o new.npy --engine cpu --timeline nodir/t.json"), "there is no folder nodir")
    fails(pgemm(2, "--transa T -o new.npy --engine cpu --timeline t.svg"), "must end in .json")
    assert not os.path.exists("new.npy")


@pytest.mark.parametrize("lack", ["unnamed", "descriptors", "unnamed descriptors"])
def test_file_systems(expected, lack):
    """Processes on several hosts write one file by its temporary name."""
    env = {"LD_PRELOAD": BUILD / "tests/file_system.so", "FILE_SYSTEM_LACKS": lack}
    Path("c.npy").write_text("old\n", encoding="utf-8")
    os.chmod("c.npy", 0o600)
    on_processes(3, TESSERA, "pgemm", DIGITS, DIGITS, *"--transa T -o c.npy --force --engine cpu".split(),
                 env=env).ok()
    assert same("c.npy", expected[0]) and os.stat("c.npy").st_mode & 0o777 == 0o600
    assert [file for file in os.listdir() if file.startswith("c.npy")] == ["c.npy"]


def test_timeline_that_fails_costs_no_result(expected):
    os.symlink("/dev/full", "t.json")
    fails(pgemm(2, "--transa T -o c.npy --engine host --devices 2 --timeline t.json"), "No space left")
    assert same("c.npy", expected[0])


# ---- Plans ----


def plan(words, machine=SUMMIT):
    return tessera("plan pgemm d " + words, *(["--machine", machine] if machine else []))


def test_plans():
    plan("200000 200000 200000 --grid 6x6").ok("predicted")
    plan("20000 20000 20000 --grid 2x2 --commands --timeline p.json").ok(r"write     block \(0, 0\) back")
    with open("p.json", encoding="utf-8") as file:
        assert "panels of B" in json.dumps(json.load(file))
    plan("20000 20000 20000 --grid 2x2 --network 150 --up 50 --details").ok("150 GB/s each way")


@pytest.mark.parametrize("network, kind, what", [(1000, "kernels", "kernels"), (1, "link", "the network")])
def test_verdict(network, kind, what):
    words = f"100000 100000 100000 --grid 6x6 --network {network}"
    shown = plan(words + " --json").json()
    limit = shown["verdict"]["limit"]
    assert (limit["kind"], limit["what"]) == (kind, what)
    assert shown["verdict"]["rate"] == pytest.approx(shown["flops"], rel=1e-6)
    done = plan(words).ok(rf"^(Bound|Mostly bound) by {what} \(\d+ % of the")
    assert max(map(len, done.out.splitlines()[1:])) <= 80


@pytest.mark.parametrize("words, assumed", [
    ("--grid 2x2 --machine gpu*4", True), ("--grid 2x2 --machine 'gpu*4 net:10'", False),
    ("--grid 2x2 --machine gpu*4 --network 10", False),
])
def test_an_assumed_network_says_so(words, assumed):
    done = tessera("plan pgemm d 20000 20000 20000 " + words).ok()
    assert ("The network is assumed (10 GB/s each way a process)" in " ".join(done.out.split())) == assumed
    told = tessera("plan pgemm d 20000 20000 20000 --json " + words).json()["verdict"]
    assert told["network_assumed"] == assumed


def test_an_assumed_network_that_does_not_matter_is_for_programs():
    words = "plan pgemm d 2000 2000 2000 --grid 2x2 --machine cpu:1"
    assert "assumed" not in tessera(words).ok().out
    assert tessera(words, "--json").json()["verdict"]["network_assumed"] is True


def test_plans_that_are_refused():
    fails(plan("100 100 100 --grid 1x1"), "tsr_plan_gemm")
    fails(plan("100 100 100", machine=None), "--grid")


# ---- The benchmarks' driver ----


@pytest.fixture
def measure():
    if not BENCH.exists():
        pytest.skip("no driver in this build (TESSERA_BENCH)")
    return lambda *words: on_processes(2, BENCH, *words)


def square(n, more=""):
    return f"pgemm d {n} {n} {n} {more}"


def lines_with(path, text):
    with open(path, encoding="utf-8") as file:
        return sum(text in line for line in file)


def test_measured(measure):
    measure(square(300), "pgemm d 200 150 100 processes=1", "--engine", "cpu", "--repeat", "2", "--csv",
            "m.csv").ok("ok$")
    assert lines_with("m.csv", ",1,m") + lines_with("m.csv", ",1,-") == 2


def test_measured_short_types(measure):
    measure("pgemm h 100 80 60 block=16", "pgemm b 100 80 60 block=16", "--engine", "host", "--devices", "2", "--repeat", "0",
            "--csv", "h.csv").ok("ok$")
    assert lines_with("h.csv", ",1,m") == 2


def test_measured_bytes(measure):
    """In JSON, by process: counted as they were moved, and planned."""
    done = measure("pgemm d 100 80 60 grid=2x1 block=16", "--engine", "host", "--devices", "2", "--repeat", "0", "--json").ok()
    moved = json.loads(done.out)["moved"]
    assert [(p["row"], p["col"]) for p in moved] == [(0, 0), (1, 0)]
    for p in moved:
        assert p["counted"] == p["planned"] and p["counted"]["to_host"] >= 8 * 80 * 36
    # B's panels travel: all of it, 60 x 80, is received once by the process that has not its rows.
    assert sum(p["counted"]["received"] for p in moved) == sum(p["counted"]["sent"] for p in moved) == 8 * 60 * 80


def test_measured_on_devices(measure):
    measure("pgemm c 200 200 200", "--engine", "host", "--devices", "2", "--repeat", "1", "--timeline",
            "m.json").ok("ok$")
    assert lines_with("m.json", '"name":"panel 0"') > 0


def test_one_transport_fails(measure):
    """If one case fails, the other is still measured."""
    fails(measure(square(100, "transport=nccl"), square(100, "transport=mpi"), "--engine", "host",
                  "--devices", "2", "--repeat", "1", "--csv", "t.csv"), "NCCL and RCCL are for the devices of NVIDIA and AMD")
    assert lines_with("t.csv", ",1,mpi") == 1


def test_wrong_cases(measure):
    done = fails(measure(square(100, "transport=pigeons")), "must be auto, mpi or nccl")
    assert len([line for line in done.err.splitlines() if "pigeons" in line]) == 1  # one process says it
    fails(measure(square(100, "processes=3")), "has started 2")
    fails(measure(square(100, "up=50")), "are for predictions")
