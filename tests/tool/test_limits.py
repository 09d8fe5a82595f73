# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Limits of containers, as the command meets them: each in a mount namespace of its own, or set for the process. Where
namespaces are refused, base_test_process_limits has the same files in root folders, and these tests say so."""
import json
import os
import shlex
import subprocess

import pytest

from support import BUILD, DIGITS, MPI, TESSERA, data_of, run, setting_of_build

GRAM = [TESSERA, "gemm", DIGITS, DIGITS, "--transa", "T", "-o", "c.npy", "--force"]


def refused():
    """Whether this process may not mount in a namespace of its own, as in most containers."""
    tried = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
    if tried.returncode != 0:
        print("namespaces are refused here: base_test_process_limits tests with root folders")
    return tried.returncode != 0


def inside(mounts, command, env=None):
    """Runs a command in a mount namespace, after the shell's lines."""
    return run(["unshare", "-m", "sh", "-ec", f'{mounts}\nexec "$@"', "sh", *command], env=env)


def findings(done):
    done.exits(0)
    return [(f["grade"], f["text"]) for f in json.loads(done.out)["findings"]]


def doctor(mounts, **env):
    return findings(inside(mounts, [TESSERA, "doctor", "--json"], env))


def says(found, grade, text):
    assert any(g == grade and t.startswith(text) for g, t in found), found


def as_if(tmp_path, files):
    """Shell lines that put files over those of /sys/fs/cgroup and of the shell's process, which the command
    becomes."""
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    folder = shlex.quote(str(tmp_path))
    return "".join(f"mount --bind {folder}/{name} {target}\n" for name, target in [
        ("group", "/sys/fs/cgroup"), ("cgroup", "/proc/$$/cgroup"), ("mountinfo", "/proc/$$/mountinfo")])


VERSIONS = {
    2: {"cgroup": "0::/\n", "mountinfo": "34 33 0:29 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
        "group/memory.max": "1073741824\n", "group/memory.current": "0\n", "group/cpu.max": "50000 100000\n"},
    1: {"cgroup": "9:memory:/docker/5f\n4:cpu,cpuacct:/docker/5f\n",
        "mountinfo": "61 60 0:22 /docker/5f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
                     "62 60 0:23 /docker/5f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n",
        "group/memory/memory.limit_in_bytes": "1073741824\n", "group/memory/memory.usage_in_bytes": "0\n",
        "group/cpu/cpu.cfs_quota_us": "50000\n", "group/cpu/cpu.cfs_period_us": "100000\n"},
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_container_with_little(tmp_path, version):
    if refused():
        return
    mounts = as_if(tmp_path, VERSIONS[version])
    found = doctor(mounts)
    says(found, "ok", "Host memory: 1.07 GB (/sys/fs/cgroup/mem")
    says(found, "ok", "Cores: 0.5 (/sys/fs/cgroup/cpu")
    env = {name: text for name, text in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = inside(mounts, ["env", "-i", *[f"{n}={t}" for n, t in env.items()], *GRAM, "--engine", "cpu"])
    done.ok(" on 1 core")
    inside(mounts, [*GRAM, "--engine", "host", "--verify"]).ok()


def test_a_real_group():
    """A control group of version 1 below the process's own, if one can be made: the kernel holds the command to it."""
    if refused():
        return
    line = [text for text in open("/proc/self/cgroup", encoding="utf-8") if ":memory:" in text]
    group = f"/sys/fs/cgroup/memory{line[0].strip().split(':', 2)[2]}/tessera-{os.getpid()}" if line else ""
    try:
        os.mkdir(group)
    except OSError as error:
        print(f"no control group can be made here ({error}): test_a_container_with_little has its files")
        return
    try:
        enter = f"echo 300M >{group}/memory.limit_in_bytes\necho $$ >{group}/cgroup.procs"
        says(doctor(enter), "ok", "Host memory: 315 MB")
        inside(enter, [*GRAM, "--engine", "host", "--devices", "4", "--verify"]).ok()
    finally:
        os.rmdir(group)


def test_a_home_that_cannot_be_written(tmp_path):
    if refused():
        return
    home, session = tmp_path / "home", tmp_path / "session"
    (home / ".cache/tessera").mkdir(parents=True)
    session.mkdir()
    mounts = f"mount --bind {home} {home}\nmount -o remount,bind,ro {home}"
    env = {"HOME": home, "XDG_CACHE_HOME": "", "XDG_RUNTIME_DIR": ""}
    says(doctor(mounts, **env), "warn", f"{home}/.cache/tessera cannot be written (Read-only file system)")
    inside(mounts, [*GRAM, "--engine", "host", "--verify"], env).ok()
    env["XDG_RUNTIME_DIR"] = session
    assert not any("cannot be written" in text for _, text in doctor(mounts, **env))


@pytest.mark.parametrize("size, grade", [("64m", "ok"), ("2m", "warn")])
def test_little_shared_memory(size, grade):
    """Products across processes are right: the numbers are whole, so that all sums are exact. With next to none
    Open MPI takes another way; MPICH ends the program before anything is written."""
    if refused() or not (BUILD / "bin/tessera-pgemm").exists():
        return
    mounts = f"mount -t tmpfs -o size={size} tmpfs /dev/shm"
    says(doctor(mounts), grade, "Shared memory (/dev/shm)")
    launcher = [setting_of_build("MPIEXEC_EXECUTABLE"), setting_of_build("MPIEXEC_NUMPROC_FLAG"), "2"]
    env = {**MPI, "OMPI_MCA_btl": "self,vader,tcp"}
    done = inside(mounts, [*launcher, TESSERA, "pgemm", *GRAM[2:]], env)
    if size == "2m" and "Open MPI" not in run([TESSERA, "--version"]).out:
        assert done.code != 0 and not os.path.exists("c.npy"), repr(done)
        return
    done.ok()
    run([*launcher, TESSERA, "pgemm", *GRAM[2:-3], "-o", "plenty.npy"], env=env).ok()
    assert data_of("c.npy") == data_of("plenty.npy")


def test_locked_memory_and_cores():
    one = str(min(os.sched_getaffinity(0)))
    done = run(["prlimit", "--memlock=65536", "taskset", "-c", one, TESSERA, "doctor", "--json"])
    says(findings(done), "ok", "Cores: 1 (the affinity mask).")
    run(["prlimit", "--memlock=65536", "taskset", "-c", one, *GRAM, "--engine", "host", "--verify"]).ok()


def test_slurm():
    job = {"SLURM_JOB_ID": "7", "SLURM_MEM_PER_NODE": "256", "SLURM_CPUS_PER_TASK": "1"}
    found = findings(run([TESSERA, "doctor", "--json"], env=job))
    says(found, "ok", "Host memory: 268 MB (SLURM_MEM_PER_NODE)")
    says(found, "ok", "Cores: 1 (SLURM_CPUS_PER_TASK)")
    run([*GRAM, "--engine", "host", "--verify"], env=job).ok()
