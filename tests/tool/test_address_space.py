# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Under ulimit -v, from next to nothing to enough: every run ends, with a result or with an error that
says what is missing. OpenBLAS waits for ever for a buffer that it cannot have."""
import os
import re

import pytest

from support import BUILD, DIGITS, TESSERA, limited, missing, run

ALONE = BUILD / "tests/dropin_calls_alone"

# In KiB. With one thread the BLAS needs 208 MiB beside what the command has.
SIZES = [2000, 4000, 6000, 8000, 12000, 20000, 40000, 60000, 90000, 120000, 150000, 180000, 210000, 230000,
         250000, 300000, 400000, 600000, 800000, 1200000, 2000000]
# Where emulated devices get their memory and the staging ring does not, or the other way round.
BETWEEN = [214000, 218000, 222000, 226000, 228000, 232000, 234000, 236000, 238000]


def under(kib, command, **settings):
    """Runs a command that may have so many KiB of addresses; one that does not end fails, as all do."""
    return run([*limited(f"-v {kib}"), *command], **settings)


def gram(kib, engine, *more):
    devices = [] if engine == "cpu" else ["--devices", "2"]
    return under(kib, [TESSERA, "gemm", DIGITS, DIGITS, "--transb", "T", "-o", "c.npy", "--engine", engine,
                       *devices, *more])


@pytest.mark.parametrize("engine, kib", [(engine, kib) for kib in SIZES for engine in ("cpu", "host")] +
                         [("host", kib) for kib in BETWEEN])
def test_ends(engine, kib):
    done = gram(kib, engine)
    if done.code == 0:
        assert os.path.getsize("c.npy") > 0
        return
    assert 0 < done.code < 128 and not os.path.exists("c.npy"), repr(done)
    # The loader, the C library and we say it in different words.
    assert re.search("memory|MiB|cannot map|failed to map|cannot start the thread", done.err, re.I), \
        repr(done)


@pytest.mark.parametrize("kib", [40000, 120000])
@pytest.mark.parametrize("engine", ["cpu", "host"])
def test_names_the_limit(engine, kib):
    gram(kib, engine).refused(r"limited to .* MiB \(ulimit -v\); raise the limit", code=1)


@pytest.mark.parametrize("engine", ["cpu", "host"])
def test_with_room(engine):
    gram(4000000, engine, "--verify").ok()
    assert os.path.getsize("c.npy") > 0


ALWAYS = {"TESSERA_ENGINE": "host", "TESSERA_DEVICES": "2", "TESSERA_OFFLOAD": "always"}


@pytest.mark.slow
@pytest.mark.parametrize("what", ["cpu", "host", "doors"])
def test_more_is_enough_as_well(what):
    """What works under one limit works under all larger ones: nothing takes addresses only since there
    are some, as malloc does for threads."""
    if what == "doors" and not ALONE.exists():
        missing("BLAS to link with (libopenblas-dev)")
    enough = None
    for mega in range(300, 2001, 50):
        done = under(1000 * mega, [ALONE, "plain"], env=ALWAYS) if what == "doors" else \
            gram(1000 * mega, what, "--force", "--verify")
        if done.code == 0:
            enough = enough or mega
            continue
        assert enough is None, f"{enough} MB are enough, {mega} are not: {done!r}"
        assert re.search("ulimit -v|cannot start the thread", done.err), repr(done)
    assert enough is not None and enough <= 600


def test_doors():
    """A program without a BLAS of its own: the door's error handler speaks, and the program ends."""
    if not ALONE.exists():
        missing("BLAS to link with (libopenblas-dev)")
    cpu = {"TESSERA_ENGINE": "cpu"}
    under(120000, [ALONE, "plain"], env=cpu).refused("dgemm_ cannot be carried out: .*ulimit -v", code=127)
    under(4000000, [ALONE, "plain"], env=cpu).ok()
