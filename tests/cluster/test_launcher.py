# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A program that another MPI's launcher starts is told so. Otherwise each of its processes would be alone,
do all of the work and write the same file. The launcher is known by its variables; where a second MPI is
installed, by a true run."""
import os
import shutil

import pytest

from support import BUILD, DIGITS, MPI, TESSERA, missing, on_processes, run

pytestmark = pytest.mark.slow

LAUNCHER = BUILD / "tests/cluster_launcher"
# Variables by which a launcher is known; this test may itself run under one.
KNOWN = ["OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
         "JSM_NAMESPACE_SIZE", "SLURM_STEP_NUM_TASKS"]
NAMES = {  # as MPI_Get_library_version() has them: the launcher's variables and its name here
    "Open MPI": ({"OMPI_COMM_WORLD_SIZE": 4}, "Open MPI's mpirun"),
    "MPICH": ({"PMI_SIZE": 4, "MPI_LOCALNRANKS": 4}, "the mpiexec of MPICH"),
}


def alone(program, *words, **variables):
    """Runs a program without a launcher, which some variables pretend."""
    env = {name: value for name, value in os.environ.items() if name not in KNOWN}
    env |= MPI | {name: str(value) for name, value in variables.items()}
    return run(["env", "-i", *(f"{name}={value}" for name, value in env.items()), program, *words])


@pytest.fixture(scope="module")
def own():
    """The build's MPI, by its family."""
    done = alone(LAUNCHER, "two", SLURM_STEP_NUM_TASKS=3)
    return next(name for name in NAMES if f"program, {name} " in done.out)


@pytest.fixture(scope="module")
def other(own):
    return next(name for name in NAMES if name != own)


def refused(done, launcher, count):
    return done.ok(f"TSR_ERR_UNSUPPORTED {launcher}.* started {count} processes, but the MPI of this "
                   r"program, (Open MPI|MPICH) \d+\.\d+\.\d+,", "Start it with")


def test_the_other_mpis_launcher(own, other):
    variables, name = NAMES[other]
    done = refused(alone(LAUNCHER, "any", **variables), name, 4)
    assert own in done.out, repr(done)


def test_a_wrong_shape_names_the_launcher_as_the_cause(other):
    variables, name = NAMES[other]
    refused(alone(LAUNCHER, "two", **variables), name, 4)


def test_slurm_whose_pmi_does_not_fit():
    done = refused(alone(LAUNCHER, "any", SLURM_STEP_NUM_TASKS=8, SLURM_PROCID=3, PMI_SIZE=8), "srun", 8)
    assert "srun --mpi=TYPE" in done.out


@pytest.mark.parametrize("variable, name", [
    ("MV2_COMM_WORLD_SIZE", "MVAPICH"), ("FLUX_JOB_SIZE", "flux run"), ("JSM_NAMESPACE_SIZE", "jsrun"),
    ("PMI_SIZE", "a launcher with MPICH's PMI")])
def test_launchers(variable, name):
    refused(alone(LAUNCHER, "any", **{variable: 2}), name, 2)


@pytest.mark.parametrize("variables", [
    {}, {"SLURM_NTASKS": 4, "SLURM_PROCID": 0, "SLURM_JOB_ID": 1},  # a batch script without srun
    {"SLURM_STEP_NUM_TASKS": 1, "SLURM_NTASKS": 4}, {"PMI_SIZE": 1}, {"OMPI_COMM_WORLD_SIZE": "x"},
    # Helpers of mpirun are started by srun, and pass its variables on.
    {"SLURM_STEP_NUM_TASKS": 4, "PMI_SIZE": 1, "MPI_LOCALNRANKS": 1}])
def test_no_alarm(variables):
    alone(LAUNCHER, "any", **variables).ok("^TSR_OK")


@pytest.mark.parametrize("what", ["one", "self"])
def test_a_process_that_is_meant_to_be_alone(other, what):
    alone(LAUNCHER, what, **NAMES[other][0]).ok("^TSR_OK")


def test_the_own_launcher_inside_another(other):
    """mpirun -n 1 in a script that another launcher has started four times."""
    on_processes(1, LAUNCHER, "any", env={**NAMES[other][0], "SLURM_STEP_NUM_TASKS": 4}).ok("^TSR_OK")


def test_processes_that_know_each_other(other):
    done = on_processes(2, LAUNCHER, "any", env={"SLURM_STEP_NUM_TASKS": 4}).ok()
    assert done.out.count("TSR_OK") == 2, repr(done)


def test_a_spawned_process():
    # Open MPI's shared memory does not join processes that were not started together.
    on_processes(1, LAUNCHER, "spawn", env={"SLURM_STEP_NUM_TASKS": 4, "OMPI_MCA_btl": "self,tcp",
                                            "OMPI_MCA_btl_tcp_if_include": "lo"}).ok("^TSR_OK")


def test_pgemm_writes_nothing(other, tmp_path):
    done = alone(TESSERA, "pgemm", DIGITS, DIGITS, "--transa", "T", "-o", tmp_path / "c.npy",
                 "--engine", "cpu", **NAMES[other][0])
    done.refused(r"^tessera pgemm: .*started 4 processes", code=1)
    assert not (tmp_path / "c.npy").exists()


def test_pgemm_under_the_other_mpi_in_truth(other, tmp_path):
    launcher = {"Open MPI": "mpirun.openmpi", "MPICH": "mpiexec.mpich"}[other]
    if not shutil.which(launcher):
        missing(launcher)
    done = run([launcher, "-n", "3", TESSERA, "pgemm", DIGITS, DIGITS, "--transa", "T",
                "-o", tmp_path / "c.npy", "--engine", "cpu"], env=MPI)
    assert done.code != 0, repr(done)
    done.warns(f"{NAMES[other][1]}.* started 3 processes")
    assert not (tmp_path / "c.npy").exists()
