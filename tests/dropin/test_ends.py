# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""How a process ends: by each way of ending, from each state of the library, at once and as it would
without us."""
import os
import signal
import subprocess

import pytest

from support import BUILD, TESSERA, missing

pytestmark = pytest.mark.slow

ENDS = BUILD / "tests/dropin_ends"
STATES = ["idle", "running", "staging", "planning", "async", "probing", "door"]
DOOR = [TESSERA, "run", "--engine", "host", "--devices", "2", "--offload", "always", "--"]


@pytest.fixture(autouse=True)
def with_a_blas():
    if not ENDS.exists():
        missing("BLAS to link with (libopenblas-dev)")


def begun(state, end, **env):
    """The program in the state; it is about to end. OpenBLAS's threads would keep a process by themselves."""
    command = [*(DOOR if state == "door" else []), ENDS, state, end]
    # Unbuffered: communicate() does not see what a buffer has read beyond "ready".
    program = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, bufsize=0,
                               env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **env})
    assert program.stdout.readline() == b"ready\n"
    return program


def over(program, code, said=b""):
    try:
        out, _ = program.communicate(timeout=60)
    finally:
        program.kill()
    assert (program.returncode, out) == (code, said)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("end", ["exit", "quick_exit", "_exit", "pthread_exit", "child_exit", "child__exit"])
def test_ends(state, end):
    over(begun(state, end), 0)


def exits_while_threads_call(count):
    """OpenBLAS's destructor frees what threads of ours would use."""
    for _ in range(count):
        over(begun("door", "exit"), 0)


def test_exits_while_threads_call():
    exits_while_threads_call(60)


@pytest.mark.long
def test_many_exits_while_threads_call():
    exits_while_threads_call(5000)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("end", ["atexit", "destructor"])
def test_late_calls_are_right(state, end):
    """The BLAS is called by the thread that carries exit out, while others go on."""
    over(begun(state, end), 0, b"right\n")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_signals_end_it(state, number):
    program = begun(state, "signal")
    program.send_signal(number)
    over(program, -number)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_without_main(state, number):
    """No thread that is left takes signals: those of the program have blocked them, and ours."""
    program = begun(state, "gone")
    program.send_signal(number)
    over(program, -number)


@pytest.mark.parametrize("state", STATES)
def test_handlers_run_in_threads_of_the_program(state):
    program = begun(state, "handler")
    for _ in range(3):
        program.send_signal(signal.SIGTERM)
    over(program, 0, b"right\n")


@pytest.mark.parametrize("state", STATES)
def test_sigwait_takes_its_signals(state):
    program = begun(state, "sigwait")
    program.send_signal(signal.SIGTERM)
    over(program, 0, b"right\n")
