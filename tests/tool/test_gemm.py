# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""tessera gemm: products of files, on emulated devices and on the CPU."""
import os
import signal
import struct
import subprocess
from itertools import product

import pytest

from support import (BUILD, DIGITS, TESSERA, begun, data_of, goes_on, limited, missing, run, some_data, tessera,
                     write_npy)

GRAM = f"gemm {DIGITS} {DIGITS} --transb T -o t.npy "


@pytest.fixture
def four():
    """4 x 4."""
    write_npy("four.npy", "<f8", False, (4, 4), some_data(128))


@pytest.fixture
def complexes():
    """The same complex numbers in both orders of files: 40 x 24."""
    for name, fortran in (("c_order", False), ("f_order", True)):
        write_npy(f"{name}.npy", "<c16", fortran, (40, 24), some_data(15360))


def left_by(name):
    """Files that begin so."""
    return [file for file in os.listdir() if file.startswith(name)]


# ---- Products ----


def test_gram(tmp_path):
    tessera(GRAM + "--engine host --devices 4 --verify --timeline t.svg").ok(
        "correct", "^On 4 emulated devices: a rehearsal, its times mean nothing.$").quiet()
    assert "<svg" in (tmp_path / "t.svg").read_text()
    os.rename("t.npy", "host.npy")
    tessera(GRAM + "--engine cpu --verify").ok(
        "correct", r"^Bound by the CPU's BLAS: .* [MGT]FLOP/s on \d+ cores?\.$", "^No GPU is used")
    # The pixels are small whole numbers: every order of the sums gives the same bits.
    assert (tmp_path / "host.npy").read_bytes() == (tmp_path / "t.npy").read_bytes()


def test_a_rehearsal_has_no_rates(tmp_path):
    """Neither in the text nor in the picture, whose idle staging is one row."""
    done = tessera(GRAM + "--engine host --devices 4 --repeat 1 --timeline t.svg").ok("^time .*s, the first call$",
                                                                                    "^warm .*s, median of 1$")
    drawn = (tmp_path / "t.svg").read_text()
    assert "A rehearsal: the devices are emulated" in drawn
    assert "FLOP/s" not in done.out + drawn


def test_timeline_without_a_device(tmp_path):
    """Nothing is multiplied: the message says what would be drawn, and how."""
    tessera(GRAM + "--engine cpu --timeline t.svg").refused(
        "--timeline t.svg: without a GPU .* --engine host .*tessera plan gemm d 1797 1797 64 --machine", code=1)
    assert not left_by("t.")


def test_homes(tmp_path):
    columns = f"gemm {DIGITS} {DIGITS} --transa T -o t.npy --engine host "
    tessera(columns + "--devices 3 --verify --timeline t.json --home p,0,2").ok("correct")
    assert "traceEvents" in (tmp_path / "t.json").read_text()
    tessera(columns + "--home m").refused("is only for tessera plan")


@pytest.mark.parametrize("words", ["--devices 2 --type s", "--devices 2 --type b", "--devices 2 --type t",
                                   "--devices 4 --memory 1MB"])
def test_types_and_budgets(words):
    tessera(GRAM + "--engine host --verify " + words).ok("correct")


def test_tiles_of_1(four):
    tessera("gemm four.npy four.npy -o t.npy --engine host --devices 2 --tile 1 --verify --check").ok(
        "correct")


@pytest.mark.parametrize("a, b, transb", product(["c_order", "f_order"], ["c_order", "f_order"], "TC"))
def test_orders(complexes, a, b, transb):
    tessera(f"gemm {a}.npy {b}.npy --transb {transb} -o t.npy --engine host --devices 2 --verify "
            "--alpha 1.5-2j").ok("correct")


def test_order_of_conjugate_a(complexes):
    tessera("gemm c_order.npy f_order.npy --transa C --transb N -o t.npy --engine host --devices 2 "
            "--verify").ok("correct")


def test_beta(four):
    product_of = "gemm four.npy four.npy -o t.npy --force --engine host --devices 2 --verify "
    write_npy("nan.npy", "<f8", False, (4, 4), struct.pack("<16d", *16 * [float("nan")]))
    tessera(product_of + "--beta 0 --c nan.npy").ok("correct")
    done = tessera(product_of + "--beta 2 --c nan.npy").ok("reach all of the result")
    done.warns(r"nan.npy: nan at \[0, 0\], and 15 more elements that are not finite$")
    tessera(product_of + "--alpha -1 --beta 0.5 --c four.npy --repeat 3").ok("correct")


def odd_matrix(name, fortran, places, cols=12):
    """8 rows of small numbers, with other values at places of NumPy's."""
    values = [float(i % 7) for i in range(8 * cols)]
    for (row, col), value in places.items():
        values[row + 8 * col if fortran else cols * row + col] = value
    write_npy(name, "<f8", fortran, (8, cols), struct.pack(f"<{8 * cols}d", *values))


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("fortran, engine", product([False, True], ["cpu", "host --devices 2"]))
def test_not_finite(fortran, engine):
    """NaN and infinities are named by file and place; the other rows and columns are checked."""
    odd_matrix("a.npy", fortran, {(3, 5): NAN, (3, 1): -INF, (6, 0): INF})
    odd_matrix("b.npy", fortran, {(4, 11): NAN})
    words = f"gemm a.npy b.npy --transb T -o c.npy --force --engine {engine} "
    done = tessera(words + "--verify").ok("correct", "but for 2 rows and 1 columns")
    done = tessera(words).ok()
    done.warns(r"a.npy: -inf at \[3, 1\], and 2 more", r"b.npy: nan at \[4, 11\]$",
               "reach 2 of 8 rows and 1 of 8 columns")
    found = tessera(words + "--verify --json").json()
    assert found["verified"] is True and [(o["operand"], o["row"], o["col"], o["value"], o["count"])
                                          for o in found["nonfinite"]] == [
        ("A", 3, 1, "-inf", 3), ("B", 4, 11, "nan", 1)]
    odd_matrix("c0.npy", not fortran, {(7, 2): INF}, cols=8)
    done = tessera(words + "--c c0.npy --verify").ok("correct", "but for 3 rows and 1 columns")
    done.warns(r"c0.npy: inf at \[7, 2\]$")
    # What is multiplied by zero is not read, as in the BLAS.
    tessera(words + "--alpha 0 --beta 0 --c c0.npy --verify").ok("correct").quiet()


def test_out_of_range(four):
    """Numbers that the type of the product cannot hold, in the inputs and in the sums."""
    odd_matrix("large.npy", False, {(1, 1): 70000.0})
    product_of = "gemm large.npy large.npy --transb T -o c.npy --force --type h --engine cpu "
    tessera(product_of + "--verify").ok("correct").warns(
        r"large.npy: 70000 at \[1, 1\] is beyond the range of fp16$")
    odd_matrix("large.npy", False, {(1, 1): 60000.0})
    tessera(product_of).ok().warns(r"the sum at \[1, 1\] is beyond the range of fp16")
    tessera(product_of + "--verify").refused(r"the sum at \[1, 1\] and \d+ more are beyond", code=1)


def test_nothing_to_do(four, tmp_path):
    write_npy("rows0.npy", "<f8", False, (0, 4), b"")
    tessera("gemm rows0.npy four.npy -o t.npy --engine host --devices 2 --verify").ok()
    assert b"'shape': (0, 4)" in (tmp_path / "t.npy").read_bytes()
    tessera("gemm rows0.npy rows0.npy --transa T -o t.npy --force --engine host --devices 2 --verify").ok()
    assert data_of("t.npy") == bytes(128)


def test_as_json():
    assert tessera(GRAM + "--engine host --devices 4 --verify --json").json()["verified"] is True


# ---- What cannot be done ----


@pytest.mark.parametrize("words, message", [
    ("short.npy D --transb T", "short.npy: is truncated"),
    ("D text.npy", "has no array of NumPy"),
    ("archive.npz D", r"archive of arrays \(\.npz\); save one with numpy\.save"),
    ("missing.npy D", "missing.npy: No such file"),
    ("D D", "inner extents differ"),
    ("D c_order.npy", "complex fp64"),
    ("four.npy four.npy --alpha 1j", "must be real"),
    ("four.npy four.npy -o nowhere/bad.npy", "-o nowhere/bad.npy: there is no folder nowhere"),
    ("four.npy four.npy --engine abacus", "abacus"),
    ("four.npy four.npy --machine 'host:200 gpuu*4'", r"\^"),
])
def test_refused(four, complexes, tmp_path, words, message):
    (tmp_path / "short.npy").write_bytes(DIGITS.read_bytes()[:5000])
    (tmp_path / "text.npy").write_text("hello\n")
    (tmp_path / "archive.npz").write_bytes(b"PK\3\4" + bytes(100))
    engine = "" if "--engine" in words or "--machine" in words else " --engine host"
    output = "" if "-o" in words else " -o bad.npy"
    tessera("gemm " + words.replace("D", str(DIGITS)) + output + engine).refused(message, code=1)
    assert not left_by("bad.npy")


# ---- Files larger than memory ----
# Blocks of the CPU's BLAS: as small as they are made here, in both orders, with every operation.


@pytest.fixture
def long_files():
    write_npy("long.npy", "<f8", False, (1797, 32), some_data(460032))
    write_npy("tall.npy", "<f8", True, (1797, 32), some_data(460032))
    write_npy("flat.npy", "<f4", False, (64, 1797), some_data(460032))


@pytest.mark.slow
@pytest.mark.parametrize("words", [
    "tall.npy tall.npy --transa T", "tall.npy tall.npy --transb T --alpha -2",
    "tall.npy long.npy --transb C --type z --alpha 1.5-2j", "flat.npy flat.npy --transa T --type h",
    "flat.npy flat.npy --transa T --c c0.npy --beta 0.5",
])
def test_blocks(long_files, words):
    if "c0.npy" in words:
        tessera("gemm flat.npy flat.npy --transa T -o c0.npy").ok()
    done = tessera(f"gemm {words} -o blocks.npy --resident 8K --progress --verify --json")
    assert done.json()["verified"] is True


def test_progress(long_files):
    long = "gemm long.npy long.npy --transb T -o blocks.npy "
    done = tessera(long + "--resident 8K --progress --verify --json")
    assert done.json()["verified"] is True
    done.warns(r"^tessera gemm: \d+ %  [\d.]+ [MGT]FLOP/s  \d+ s left$", " 100 %")
    tessera(long + "--force").ok().quiet()


@pytest.fixture
def wide():
    """Options for a product of 400 MB."""
    write_npy("left.npy", "<f4", True, (10000, 16), some_data(640000))
    write_npy("right.npy", "<f4", True, (16, 10000), some_data(640000))
    yield "gemm left.npy right.npy -o wide.npy "
    for file in left_by("wide.npy"):
        os.remove(file)


WIDE_BYTES = 400000128


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["--engine cpu", "--engine host --devices 2 --memory 20M"])
def test_little_is_in_memory(wide, engine):
    """Little of a large result is in memory at a time, whoever computes it. What the program takes beside
    it differs by engine, so each is measured on a small product first; 200 MB more are half of the
    result, where 32 MB are asked for and some are written between two looks. On a busy computer the thread
    that looks may get no core for a while, and the command is tried again."""
    small = tessera(GRAM + "--json " + engine).json()
    limit = small["peak_resident_bytes"] + 200000000
    for _ in range(20):
        done = tessera(wide + "--force --resident 32M --json --progress " + engine)
        done.warns(" 100 %")
        assert os.path.getsize("wide.npy") == WIDE_BYTES
        if done.json()["peak_resident_bytes"] < limit:
            break
    assert done.json()["peak_resident_bytes"] < limit


def ended_by(number, wide, **more):
    """Sends a signal once the result has begun; the exit code."""
    with begun(wide, **more) as program:
        program.send_signal(number)
        goes_on(program)
        return program.wait(timeout=300)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ended(wide, number):
    """What is ended leaves nothing behind."""
    assert ended_by(number, wide) == -number
    assert not left_by("wide.npy")


def test_not_ended(wide):
    """What was told not to mind its terminal's end does not."""
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert ended_by(signal.SIGHUP, wide, preexec_fn=ignore) == 0
    assert os.path.getsize("wide.npy") == WIDE_BYTES


# ---- Where results go ----


def test_too_large_for_a_file(wide, tmp_path):
    """What does not fit on the disk is refused before anything is computed, and what was there stays."""
    (tmp_path / "kept.npy").write_text("old\n")
    tessera(wide.replace("wide.npy", "kept.npy") + "--force", under=limited("-f 100")).refused(
        f"kept.npy: cannot take {WIDE_BYTES} bytes", code=1)
    assert (tmp_path / "kept.npy").read_text() == "old\n" and left_by("kept.npy") == ["kept.npy"]


FULL_DISK = """mount -t tmpfs -o size=1M tmpfs small || exit 77
echo old >small/c.npy
"$1" gemm left.npy right.npy -o small/c.npy --force
code=$?
cat small/* >there
exit $code"""


def test_full_disk(wide, tmp_path):
    (tmp_path / "small").mkdir()
    done = run(["unshare", "-rm", "sh", "-c", FULL_DISK, "sh", TESSERA])
    if done.code == 77 or "unshare" in done.err:
        pytest.skip("nothing can be mounted here")
    done.refused(f"small/c.npy: cannot take {WIDE_BYTES} bytes: No space left", code=1)
    assert (tmp_path / "there").read_text() == "old\n"


def test_no_place_of_other_things(long_files, tmp_path):
    """A result does not take the place of what is no file, and goes where a link points."""
    long = "gemm long.npy long.npy --transb T -o "
    os.mkfifo("pipe")
    tessera(long + "pipe").refused("-o pipe: this is no ordinary file", code=1)
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "folder").mkdir()
    tessera(long + "folder").refused("-o folder: this is a directory", code=1)
    (tmp_path / "there").mkdir()
    (tmp_path / "there/real.npy").write_text("old\n")
    os.symlink("there/real.npy", "link.npy")
    tessera(long + "link.npy --force").ok()
    assert (tmp_path / "link.npy").is_symlink() and os.path.getsize("there/real.npy") > 1000000


def test_timeline_to_a_pipe(long_files, tmp_path):
    os.mkfifo("pipe")
    (tmp_path / "there").mkdir()
    os.symlink("../pipe", "there/plot.svg")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        tessera("gemm long.npy long.npy --transb T -o c.npy --engine host --timeline there/plot.svg").ok()
        drawn = reader.communicate(timeout=300)[0]
    assert b"<svg" in drawn
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "there/plot.svg").is_symlink()


def test_a_computer_with_two_memory_nodes(four):
    """Without hwloc the variables have no effect."""
    tessera("gemm four.npy four.npy -o t.npy --engine host --devices 2 --verify --home p,h,h",
            env={"HWLOC_SYNTHETIC": "numa:2 pu:1", "HWLOC_THISSYSTEM": "1"}).ok("correct")


def test_what_is_read_alternates_between_memory_nodes(four):
    nodes = {"HWLOC_SYNTHETIC": "numa:2 pu:1", "HWLOC_THISSYSTEM": "1"}
    if "2 host memory nodes" not in tessera("doctor", env=nodes).out:
        missing("hwloc: libhwloc15, and a build with it")
    nodes["LD_PRELOAD"] = str(BUILD / "tests/memory_policy.so")
    command = "gemm four.npy four.npy -o t.npy --force --engine host --devices 2 --verify"
    assert "interleaved over 3\n" in tessera(command, env=nodes).ok("correct").err
    assert "interleaved" not in tessera(command, env={**nodes, "TESSERA_BIND": "0"}).ok("correct").err
