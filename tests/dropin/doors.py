# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the tests of the BLAS doors share. They read the report that the doors write: programs may
succeed without ever having come through us."""
import os
import re
from pathlib import Path

from support import BUILD, Done, TESSERA, run

DOORS = BUILD / "lib/libtessera_blas.so.0.2"
ENGINE = os.environ.get("TSR_TEST_ENGINE", "host")  # what the calls are offloaded to
REPORT = Path("report")


class Used(Done):
    """A program that has ended, and what the doors have reported (report)."""

    def __init__(self, done):
        super().__init__(done.command, done.code, done.out, done.err)
        self.report = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""

    def __repr__(self):
        return f"{super().__repr__()}\n---- report\n{self.report[-3000:]}"

    @property
    def planned(self):
        """The calls that went through a plan, in all reports."""
        return sum(map(int, re.findall(r"(?:level-3 BLAS|LAPACK) calls?: (\d+)", self.report)))

    def silently(self):
        """As the program does without us."""
        assert (self.code, self.out, self.err) == (0, "", ""), repr(self)
        return self

    def reported(self, *patterns):
        for pattern in patterns:
            assert re.search(pattern, self.report, re.MULTILINE), f"no '{pattern}' from {self!r}"
        return self

    def plans(self, least):
        assert self.planned >= least, repr(self)
        return self


def offloaded(devices, tile, *program, under=(), **settings):
    """Runs a program with every call offloaded."""
    REPORT.unlink(missing_ok=True)
    return Used(run([*under, TESSERA, "run", "--report-to", REPORT.absolute(), "--engine", ENGINE,
                     "--devices", devices, "--tile", tile, "--offload", "always", "--", *program],
                    **settings))


def preloaded(*program, **settings):
    """Runs a program with the doors before its BLAS: preloaded(program, "argument", OFFLOAD="never");
    settings of ours lack TESSERA_, others are in env."""
    REPORT.unlink(missing_ok=True)
    env = {"LD_PRELOAD": DOORS, "TESSERA_REPORT": REPORT.absolute(), **settings.pop("env", {})}
    env.update({"TESSERA_" + name: value for name, value in settings.items()})
    return Used(run(program, env=env))
