# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What a long command shows while it works: a bar on a terminal, nothing on a pipe."""
import math
import os
import pty
import re
import struct
import subprocess
import time

import pytest

from support import DIGITS, ROOT, TESSERA, tessera, write_npy

pytestmark = [pytest.mark.slow, pytest.mark.turns(2)]

# 2.2e10 multiplications, which take about a second of one core: twice, and once to warm up.
SQUARE = 2800
LONG = "gemm square.npy square.npy -o c.npy --force --repeat 2 "
BAR = r"\[=*>? *\] +\d+ %  [\d.]+ [MGT]FLOP/s  (\d+ h )?(\d+ min )?\d+ s left"


@pytest.fixture
def square():
    write_npy("square.npy", "<f8", False, (SQUARE, SQUARE), bytes(8 * SQUARE * SQUARE))


def on_terminal(words):
    """What a terminal gets as stderr, and the standard output's pipe."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([TESSERA, *words.split()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=theirs) as program:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the terminal's other end is closed
                break
            if not part:
                break
            shown += part
        out = program.stdout.read().decode()
        assert program.wait(timeout=300) == 0, shown.decode()
    os.close(ours)
    return shown.decode(), out


def shown_by(words, pattern):
    """What a terminal gets of a command that takes long, and the standard output. Whether something is shown
    meanwhile also depends on when the thread that draws gets a core, so this is tried until the pattern is
    there."""
    for _ in range(10):
        shown, out = on_terminal(words)
        if re.search(pattern, shown):
            return shown, out
    raise AssertionError(f"no '{pattern}' in {shown!r}")


def last_line(shown):
    """What is left on the terminal when each text has overwritten those before it."""
    line = ""
    for text in shown.split("\n")[-1].split("\r"):
        line = text + line[len(text):]
    return line.strip()


@pytest.mark.parametrize("engine", ["--engine cpu", "--engine host --devices 2"])
def test_bar_on_a_terminal(square, engine):
    shown, out = shown_by(LONG + engine, r"\r" + BAR)
    lines = shown.split("\r")
    assert all(len(line) < 80 for line in lines) and "\n" not in shown
    assert last_line(shown) == "" and "%" not in out


def test_nothing_on_a_pipe(square):
    tessera(LONG + "--engine cpu").ok().quiet()


def test_lines_if_asked(square):
    done = tessera(LONG.replace("--repeat 2", "") + "--engine cpu --progress").ok()
    done.warns(r"^tessera gemm: +\d+ %  [\d.]+ [MGT]FLOP/s  \d+ s left$", r"^tessera gemm: 100 %")
    assert "\r" not in done.err and 2 <= done.err.count("\n") <= 10


def test_message_clears_the_line():
    """A message after a line that was shown begins in the first column."""
    write_npy("square.npy", "<f8", False, (SQUARE, SQUARE), struct.pack("<d", math.nan) + bytes(8 * SQUARE * SQUARE - 8))
    shown, _ = shown_by(LONG + "--engine cpu", r"\r" + BAR)
    assert re.search(r"\r *\rtessera gemm: square.npy: nan at", shown)


def test_short_calls_show_nothing():
    """Nothing in a command's first second; one that the computer held up for longer is tried again."""
    for _ in range(100):
        begin = time.monotonic()
        shown, _ = on_terminal(f"gemm {DIGITS} {DIGITS} --transa T -o c.npy --force --engine cpu")
        if time.monotonic() - begin < 1:
            assert shown == ""
            return
        assert last_line(shown) == ""
    pytest.skip("none of a hundred commands took less than a second")


def test_planning():
    """About two seconds of planning."""
    shown, _ = shown_by(f"plan gemm d 300000 300000 300000 --machine {ROOT}/machines/h200x8.json",
                        r"\rplanning  \d+ s +\r")
    assert last_line(shown) == "", shown


def test_probing():
    shown, _ = on_terminal("machine --probe --engine host --devices 2")
    assert last_line(shown) == "" and all(len(line) < 80 for line in shown.split("\r"))
