# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the tests of programs share: where things are, programs that are run, files of matrices."""
import importlib
import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BUILD", ROOT / "build")).resolve()
TESSERA = Path(os.environ.get("TESSERA_BIN", BUILD / "bin/tessera")).resolve()
DIGITS = ROOT / "examples/data/digits.npy"  # 1797 x 64, C-ordered, small whole numbers
HERE = "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19"


def missing(what):
    """Skips the test for want of something; TSR_TEST_SKIPS=0 (as in CI): nothing may be missing."""
    if os.environ.get("TSR_TEST_SKIPS") == "0":
        pytest.fail(f"there is no {what}")
    pytest.skip(f"there is no {what}")


def imported(name):
    """A module that a whole file of tests needs; what is missing is told as by missing()."""
    try:
        return importlib.import_module(name)
    except ImportError:
        if os.environ.get("TSR_TEST_SKIPS") == "0":
            raise
        pytest.skip(f"there is no {name}", allow_module_level=True)


# ---- Programs ----


class Done:
    """A program that has ended: its exit code and what it wrote. The checks return it, for more."""

    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err

    def __repr__(self):
        return (f"{shlex.join(self.command)}: exit code {self.code}\n"
                f"---- out\n{self.out[-3000:]}\n---- err\n{self.err[-3000:]}")

    def says(self, *patterns):
        """Lines of its output have the patterns."""
        for pattern in patterns:
            assert re.search(pattern, self.out, re.MULTILINE), f"no '{pattern}' from {self!r}"
        return self

    def warns(self, *patterns):
        for pattern in patterns:
            assert re.search(pattern, self.err, re.MULTILINE), f"no warning '{pattern}' from {self!r}"
        assert "Sanitizer" not in self.err, repr(self)
        return self

    def exits(self, code):
        assert self.code == code, repr(self)
        return self

    def ok(self, *patterns):
        return self.exits(0).says(*patterns)

    def refused(self, *patterns, code=2):
        """2 is wrong usage, 1 what cannot be done."""
        return self.exits(code).warns(*patterns)

    def quiet(self):
        assert self.err == "", repr(self)
        return self

    def json(self):
        self.ok()
        return json.loads(self.out)


def run(command, env=None, timeout=300, **more):
    """Runs a program; env has settings beside the environment."""
    command = [str(word) for word in command]
    more.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(command, capture_output=True, check=False, timeout=timeout,
                          env={**os.environ, **{k: str(v) for k, v in (env or {}).items()}}, **more)
    return Done(command, done.returncode, done.stdout.decode(errors="replace"),
                done.stderr.decode(errors="replace"))


def tessera(words, *more, under=(), **settings):
    """Runs the command: words in one text, more that are taken as they are. under: what runs it."""
    return run([*under, TESSERA, *shlex.split(words), *more], **settings)


def lacking(what, **more):
    """The environment of a file system that lacks something (tests/tool/file_system.c)."""
    return {"LD_PRELOAD": str(BUILD / "tests/file_system.so"), "FILE_SYSTEM_LACKS": what,
            "ASAN_OPTIONS": "verify_asan_link_order=0", **more}


def begun(words, lack="", **more):
    """Starts the command, which stops itself when the result's file has all its bytes. That is before the
    product; goes_on() lets it continue. The file has no name, or a temporary one."""
    program = subprocess.Popen([TESSERA, *shlex.split(words)], stdin=subprocess.DEVNULL,
                               stdout=more.pop("stdout", subprocess.DEVNULL),
                               stderr=more.pop("stderr", subprocess.DEVNULL),
                               env={**os.environ, **lacking(lack, FILE_SYSTEM_STOPS="1")}, **more)
    state = os.waitid(os.P_PID, program.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert state.si_code == os.CLD_STOPPED, f"{words}: has ended, by {state}"
    return program


def goes_on(program):
    program.send_signal(signal.SIGCONT)


def limited(*options):
    """For 'under': with limits of the shell's, such as '-s 64'."""
    limits = "".join(f"ulimit {option} && " for option in options)
    return ["sh", "-c", limits + 'exec "$@"', "sh"]


def setting_of_build(name):
    """What CMake was told, or has found."""
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    match = re.search(rf"^{name}:[A-Z]*=(.*)$", text, re.MULTILINE)
    return match[1] if match else ""


# There are more processes than cores: those that wait let others run. Open MPI wants to be told that it
# may do so, and that it may run as root; messages within one host need no network. Others do not look.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl": "self,vader",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
       # Open MPI leaves much behind, in components that are unloaded before leaks are looked for.
       "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}


def on_processes(count, program, *words, env=None, timeout=300):
    """Runs a program on so many processes of the build's MPI."""
    launcher = [setting_of_build("MPIEXEC_EXECUTABLE"), setting_of_build("MPIEXEC_NUMPROC_FLAG")]
    return run([*launcher, count, program, *words], env={**MPI, **(env or {})}, timeout=timeout)


# ---- Files of matrices ----


def write_npy(path, descr, fortran, shape, data):
    """A file of version 1.0."""
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    Path(path).write_bytes(b"\x93NUMPY\x01\x00v\x00" + f"{head:<117}\n".encode() + data)


def data_of(path):
    """Without the head, which has 128 bytes in all files here."""
    return Path(path).read_bytes()[128:]


def some_data(count):
    return data_of(DIGITS)[:count]
