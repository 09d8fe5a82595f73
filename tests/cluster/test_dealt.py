# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Processes of a node that see the same devices, or different ones under the same numbers, as a scheduler may
have it: over the HIP runtime for tests, whose devices have identities."""
import pytest

from support import BUILD, MPI, missing, run, setting_of_build

pytestmark = pytest.mark.slow

RUNTIME = BUILD / "tests/hip/rocm6"


def dealt(*visible):
    """Starts a process for each of the texts, its ROCR_VISIBLE_DEVICES."""
    if not RUNTIME.exists():
        missing("HIP engine in this build")
    words = []
    for text in visible:
        machine = f"host:200 gpu*{len(text.split(','))} pcie:25 rate:1"
        words += [":"] if words else []
        words += ["-n", "1", "env", f"ROCR_VISIBLE_DEVICES={text}", f"TESSERA_MACHINE={machine}",
                  BUILD / "tests/cluster_dealt"]
    done = run([setting_of_build("MPIEXEC_EXECUTABLE"), *words],
               env={**MPI, "TESSERA_ENGINE": "hip", "LD_LIBRARY_PATH": RUNTIME, "TSR_HIP_DEVICES": 4})
    return sorted(line for line in done.ok().out.splitlines() if line.startswith("rank"))


@pytest.mark.parametrize("visible, has", [
    (["0,1,2,3", "0,1,2,3"], ["sees 4, has 0 1, sharing 1", "sees 4, has 2 3, sharing 1"]),
    (["0", "1", "2"], 3 * ["sees 1, has 0, sharing 1"]),  # Slurm's --gpus-per-task=1
    (["0", "0"], 2 * ["sees 1, has 0, sharing 2"]),
    (["0,1", "2,3", "2,3"], ["sees 2, has 0 1, sharing 1", "sees 2, has 0, sharing 1", "sees 2, has 1, sharing 1"]),
    (["0,1", "1,2"], 2 * ["sees 2, has 0 1, sharing 2"]),
])
def test_shares(visible, has):
    assert dealt(*visible) == [f"rank {i} {text}" for i, text in enumerate(has)]
