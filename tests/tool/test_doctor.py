# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What tells a user how his machine, his build and his settings are: tessera doctor, tessera --version, and
what is said of misspelt settings."""
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from support import BUILD, HERE, MPI, TESSERA, limited, missing, on_processes, run, tessera

LAUNCHERS = ["OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
             "JSM_NAMESPACE_SIZE", "SLURM_STEP_NUM_TASKS"]


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    """Neither settings nor a launcher's variables of whoever runs the tests; a cache of its own."""
    for name in list(os.environ):
        if name in LAUNCHERS or name == "XDG_RUNTIME_DIR" or (name.startswith("TESSERA_") and name != "TESSERA_BIN"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def has_mpi():
    return (BUILD / "bin/tessera-pgemm").exists()


def has_hip():
    return (BUILD / "lib/libtessera_hip.so.0.2").exists()


def doctor(code=0, **variables):
    """The findings, as (grade, about, text); the text for people has the same ones, in 80 columns."""
    found = tessera("doctor --json", env=variables).exits(code)
    shown = tessera("doctor", env=variables).exits(code).out
    for line in shown.splitlines():  # a path that is longer has a line of its own
        assert len(line) <= 80 or len(line.split()[-1]) > 74, shown
    report = json.loads(found.out)
    findings = [(f["grade"], f["about"], f["text"]) for f in report["findings"]]
    assert re.findall("^(ok|warn|fail) ", shown, re.M) == [grade for grade, _, _ in findings]
    assert report["worst"] == max((grade for grade, _, _ in findings), key=["ok", "warn", "fail"].index)
    return findings


def has(findings, grade, about, pattern):
    texts = [text for g, a, text in findings if (g, a) == (grade, about)]
    assert any(re.search(pattern, text) for text in texts), findings


# ---- The version ----


def test_version():
    done = tessera("--version").ok(r"\Atessera \d+\.\d+\.\d+ \(([0-9a-f]{7,}|unknown)\)$",
                                   "^CUDA +", "^HIP +", "^MPI +", "^BLAS +", r"^engines +.*host, cpu$", "^built +by ")
    assert done.out.count("\n") <= 8


def test_version_says_what_the_build_has():
    done = tessera("--version").ok()
    mpi = re.search("^MPI +(.*)$", done.out, re.M)[1]
    assert re.match(r"(Open MPI|MPICH|Intel MPI|MVAPICH) \d" if has_mpi() else "none", mpi), mpi
    for word, there in (("CUDA", (BUILD / "lib/libtessera_cuda.so.0.2").exists()), ("HIP", has_hip())):
        engine = re.search(f"^{word} +(.*)$", done.out, re.M)[1]
        assert re.match(r"\d+\.\d(?!.*not installed)" if there else "none|.*not installed", engine), engine
    engines = re.search("^engines +(.*)$", done.out, re.M)[1]
    assert ("hip" in engines) == has_hip(), engines


def test_version_without_a_blas():
    tessera("--version", env={"TESSERA_CPU_BLAS": "/nowhere.so"}).ok("^BLAS +none: TESSERA_CPU_BLAS is /nowhere")


# ---- The doctor ----


def test_a_sound_computer():
    findings = doctor()
    has(findings, "ok", "build", r"^tessera \d+\.\d+\.\d+ \(")
    has(findings, "ok", "blas", r": /.*\.so")
    has(findings, "ok", "settings", "^No settings.$")
    assert not [text for grade, about, text in findings if about == "machines" or (grade == "ok" and "ulimit -l" in text)]
    assert "fail" not in [grade for grade, _, _ in findings]


def test_settings_are_listed_and_misspelt_ones_told():
    findings = doctor(TESSERA_DEVICES="2", TESSERA_ENGIN="host", TESSERA_ROOT="/opt")
    has(findings, "ok", "settings", "^Settings: TESSERA_DEVICES=2.$")
    has(findings, "warn", "settings", "^TESSERA_ENGIN is no setting .* Did you mean TESSERA_ENGINE")
    has(findings, "ok", "settings", "without effect: TESSERA_ROOT")


@pytest.mark.parametrize("name, value, says", [
    ("TESSERA_MEMORY", "zz", 'TESSERA_MEMORY is "zz"; give bytes'),
    ("TESSERA_ENGINE", "gpu", 'TESSERA_ENGINE is "gpu"; it may be'),
    ("TESSERA_DEVICES", "0", 'devices is "0"'),
    ("TESSERA_TILE", "-1", "TESSERA_TILE"),
    ("TESSERA_BIND", "maybe", "TESSERA_BIND"),
    ("TESSERA_PEER", "maybe", "TESSERA_PEER"),
    ("TESSERA_OFFLOAD", "yes", "TESSERA_OFFLOAD"),
    ("TESSERA_MIN_SIZE", "big", "TESSERA_MIN_SIZE"),
    ("TESSERA_STRATEGY", "kpannel=1", "kpannel"),
    ("TESSERA_LOG", "loud", 'TESSERA_LOG is "loud"; it may be none, error, info'),
    ("TESSERA_MACHINE", "nosuchmachine", "nosuchmachine"),
    ("TESSERA_SETTINGS", "/nowhere", "/nowhere"),
])
def test_settings_that_the_library_refuses(name, value, says):
    has(doctor(code=1, **{name: value}), "fail", "settings", re.escape(says))


def test_a_blas_that_cannot_be_loaded():
    has(doctor(code=1, TESSERA_CPU_BLAS="/nowhere.so"), "fail", "blas", "/nowhere.so, which cannot be loaded")


def test_gpus_that_were_asked_for():
    if tessera("doctor --json").out.count('"No GPU') == 0:
        pytest.skip("this computer has a GPU")
    has(doctor(code=1, TESSERA_ENGINE="cuda"), "fail", "gpu", "TESSERA_ENGINE asks for GPUs, but .*(cuda|CUDA)")
    has(doctor(code=1, TESSERA_ENGINE="hip"), "fail", "gpu", "TESSERA_ENGINE asks for GPUs, but .*(hip|HIP)")


def test_amd_gpus_that_are_missing():
    """The message of the runtime as it is installed, which finds no device."""
    if not has_hip() or Path("/dev/kfd").exists():
        pytest.skip("there is no HIP engine, or there may be an AMD GPU")
    if not any("libamdhip64.so." in line for line in run(["/sbin/ldconfig", "-p"]).ok().out.splitlines()):
        missing("libamdhip64")
    done = tessera("machine --engine hip").exits(1)
    assert re.fullmatch(r"tessera machine: no HIP device is visible on this machine: there is no /dev/kfd.*\n", done.err), repr(done)


def test_a_runtime_that_is_missing(tmp_path):
    """A library of that name that is none: the loader takes none of the libraries of ROCm."""
    if not has_hip():
        pytest.skip("there is no HIP engine")
    for soname in ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"):
        (tmp_path / soname).write_text("", encoding="utf-8")
    hidden = {"LD_LIBRARY_PATH": tmp_path, "ROCM_PATH": tmp_path / "none"}
    said = "the HIP runtime is not here: no libamdhip64.so.7, .6 or .5 is found; install ROCm, or set ROCM_PATH"
    done = tessera("machine --engine hip", env=hidden).exits(1)
    assert done.err.count("\n") == 1 and said in done.err, repr(done)


def test_a_machine_that_is_described():
    has(doctor(TESSERA_MACHINE=HERE), "warn", "settings", r"describes 8 devices, and there are \d+ GPUs")


def test_a_cache_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    has(doctor(XDG_CACHE_HOME=tmp_path / "file"), "warn", "measurement", "cannot be made.*anew")


def test_a_cache_that_cannot_be_written():
    """Root may write everywhere, and asks as nobody."""
    as_nobody = ["setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set", "-all", "--inh-caps", "-all"]
    if os.getuid() == 0 and not shutil.which("setpriv"):
        missing("setpriv")
    with tempfile.TemporaryDirectory() as cache:
        folder = Path(cache, "tessera")
        folder.mkdir(mode=0o555)
        os.chmod(cache, 0o755)
        done = tessera("doctor", under=as_nobody if os.getuid() == 0 else (), env={"XDG_CACHE_HOME": cache}).ok()
        assert re.search(r"^warn +\S*/tessera cannot be\s+written \(Permission denied\)", done.out, re.M), repr(done)


def test_a_limited_address_space():
    done = tessera("doctor", under=limited("-v 4000000")).ok()
    assert "address space is limited to 4.1 GB" in " ".join(done.out.split()), repr(done)


def test_a_library_from_elsewhere(tmp_path):
    """LD_LIBRARY_PATH goes before where the command itself looks."""
    for library in BUILD.glob("lib/libtessera.so*"):
        shutil.copy(library, tmp_path, follow_symlinks=True)
    findings = doctor(LD_LIBRARY_PATH=tmp_path)
    has(findings, "warn", "library", f"loaded from {tmp_path}.*LD_LIBRARY_PATH")


# ---- MPI and launchers ----


def test_mpi():
    if has_mpi():
        has(doctor(), "ok", "mpi", r"^(Open MPI|MPICH|Intel MPI|MVAPICH) [0-9.]+, for products across")
    else:
        has(doctor(), "ok", "mpi", "^No MPI: libtessera_mpi.* are missing")


def test_the_own_launcher():
    if not has_mpi():
        missing("MPI")
    done = on_processes(2, TESSERA, "doctor").ok("^ok +Started by .* 2 processes that know each other")
    assert done.out.count("Started by") == 1, repr(done)  # the first process speaks


def test_a_command_without_its_mpi_part(tmp_path):
    """As where a distribution's package of the command is installed, and that of tessera pgemm is not."""
    if not has_mpi():
        missing("MPI")
    (tmp_path / "bin").mkdir()
    shutil.copy(TESSERA, tmp_path / "bin")
    (tmp_path / "lib").symlink_to(BUILD / "lib")
    report = json.loads(run([tmp_path / "bin/tessera", "doctor", "--json"]).exits(0).out)
    assert any(f["grade"] == "warn" and "Debian: tessera-mpi" in f["text"] for f in report["findings"]), report


def test_another_mpis_launcher():
    if not has_mpi():
        missing("MPI")
    other = "mpiexec.mpich" if "Open MPI" in tessera("--version").out else "mpirun.openmpi"
    if not shutil.which(other):
        missing(other)
    done = run([other, "-n", "2", TESSERA, "doctor"], env=MPI)
    assert done.code != 0, repr(done)
    assert re.search(r"^fail +.* started 2 processes, but the\s+MPI of this", done.out, re.M), repr(done)
    assert done.out.count("fail") == 1, repr(done)


# ---- Misspelt settings ----


def test_a_misspelt_setting_is_told():
    done = tessera("plan gemm d 64 64 64", "--machine", HERE, env={"TESSERA_ENGIN": "host"}).ok()
    done.warns("^tessera plan: TESSERA_ENGIN is no setting and has no effect; did you mean TESSERA_ENGINE")
    done = tessera("plan gemm d 64 64 64", "--machine", HERE, env={"TESSERA_LGO": "info"}).ok()
    done.warns("^tessera plan: TESSERA_LGO is no setting and has no effect; did you mean TESSERA_LOG")


def test_names_that_are_near_no_setting_are_not_told():
    tessera("plan gemm d 64 64 64", "--machine", HERE,
            env={"TESSERA_ROOT": "/opt/tessera", "TESSERA_HOME": "/opt"}).ok().quiet()


def test_the_log_names_a_misspelt_setting_once():
    done = tessera("machine --engine cpu", env={"TESSERA_TILES": "64", "TESSERA_LOG": "error"}).ok()
    assert done.err.count("error: TESSERA_TILES is no setting") == 1, repr(done)


@pytest.mark.parametrize("command", ["plan gemm d 64 64 64", "machine --engine cpu"])
def test_an_unknown_log_level_is_refused(command):
    tessera(command, env={"TESSERA_LOG": "verbose"}).refused(
        'TESSERA_LOG is "verbose"; it may be none, error, info .* or debug', code=1)


# ---- The topology ----

TWO_SOCKETS = "pack:2 [numa(memory=256000000000)] core:32 pu:1"


def without_hwloc():
    return re.search('"text":.*The topology is unknown', tessera("doctor --json").out) is not None


def test_this_computers_nodes():
    if without_hwloc():
        missing("hwloc")
    has(doctor(), "ok", "topology", r"^\d host memory nodes?, by hwloc 2\.\d+\.$")


def test_nodes_of_another_computer():
    if without_hwloc():
        missing("hwloc")
    findings = doctor(HWLOC_SYNTHETIC=TWO_SOCKETS)
    has(findings, "ok", "topology", r"^2 host memory nodes, by hwloc .*, from a description of another computer")
    has(findings, "ok", "topology", r"^Host memory node 1: 32 CPUs, of which this process may use \d+, 256 GB\.$")


def test_more_nodes_than_are_told_apart():
    if without_hwloc():
        missing("hwloc")
    has(doctor(HWLOC_SYNTHETIC="numa:9 pu:1"), "ok", "topology", "^The topology is unknown: .* more than 8")


def test_what_is_bound_is_told():
    if without_hwloc():
        missing("hwloc")
    here = {"HWLOC_SYNTHETIC": "numa:2 pu:1", "HWLOC_THISSYSTEM": "1"}
    has(doctor(**here), "ok", "topology", "^Threads for a device run on CPUs of its node")
    has(doctor(TESSERA_BIND="0", **here), "ok", "topology", "^TESSERA_BIND=0: threads run anywhere")
