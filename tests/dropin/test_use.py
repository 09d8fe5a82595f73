# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Good use and bad use: a program that knows nothing of us runs as it would without us, with and without
devices, whatever it does to its threads, processes and streams."""
import os
import re
import stat
from pathlib import Path

import pytest

from doors import DOORS, Used, offloaded, preloaded
from support import BUILD, ROOT, TESSERA, limited, missing, run, setting_of_build, tessera

CALLS = BUILD / "tests/dropin_calls"
ALONE = BUILD / "tests/dropin_calls_alone"

# A machine whose devices are very fast and whose CPU is very slow, and the other way round: so slow that no
# delay makes up for it. What the CPU is said to do counts until it was seen what it does.
FAST = "host:200 gpu*2@nvswitch:300 pcie:1000 rate:1000 cpu:0.01 lat:0.1 launch:0.1"
SLOW = "host:200 gpu*2@nvswitch:300 pcie:1e-6 rate:1e-9 cpu:100000"


@pytest.fixture(autouse=True)
def with_a_blas():
    if not CALLS.exists():
        missing("BLAS to link with (libopenblas-dev)")


@pytest.fixture(name="netlib")
def netlib_folder():
    found = [f.parent for f in Path("/usr/lib").rglob("blas/libblas.so.3")]
    if not found:
        missing("netlib's libblas.so.3 (libblas3)")
    return found[0]


# ---- On devices ----


@pytest.mark.parametrize("way", ["plain", "threads", "cancelled", "forks", "busy_fork", "fork_first",
                                 "closed", "streams_closed", "looked_up", "triangle", "modes"])
def test_offloaded(way):
    offloaded(2, 33, CALLS, way).silently().plans(1)


def test_count_is_exact():
    assert offloaded(3, 16, CALLS, "plain").planned == 2


def test_children():
    """The child of a process that has started devices calls no device; that of one that has not, may."""
    done = offloaded(2, 33, CALLS, "forks").reported(
        "2 on the CPU: the devices are the parent process's")
    assert done.planned == 4
    assert offloaded(2, 33, CALLS, "fork_first").planned == 2


def test_flags_of_the_blas_behind():
    """They are for it alone, and its calls are counted."""
    if run([CALLS, "conjugated"]).code != 0:
        missing("BLAS that conjugates without transposing (OpenBLAS)")
    offloaded(2, 33, CALLS, "conjugated").silently().reported(
        "^tessera: 2 level-3 BLAS calls: 0 on devices, 2 on the CPU", "2 on the CPU: arguments that its BLAS judges",
        r"^ +1 dgemm RN")


def test_shared_memory():
    """Matrices that share memory are for the BLAS behind us."""
    if run([CALLS, "shared"]).code != 0:
        missing("BLAS that multiplies by 0 what it has overwritten")
    offloaded(2, 33, CALLS, "shared").silently().reported("1 on the CPU: ")


def test_shared_memory_alone():
    """Or for ours, where there is none."""
    env = {"TESSERA_ENGINE": "host", "TESSERA_OFFLOAD": "always"}
    Used(run([ALONE, "shared"], env=env)).silently()


def test_small_stacks():
    """Threads of the program for which a BLAS is all that fits on their stack. How much the BLAS needs
    differs between processors."""
    enough = (kib for kib in (64, 80, 96, 128) if run([*limited(f"-s {kib}"), CALLS, "threads"]).code == 0)
    least = next(enough, None)
    if least is None:
        missing("BLAS that can do with stacks of 128 KiB")
    offloaded(2, 33, CALLS, "threads", under=limited(f"-s {least}")).silently().plans(1)


# ---- By the model ----


def patient(machine, pauses):
    return preloaded(CALLS, "patient", ENGINE="host", MACHINE=machine, MIN_SIZE=8,
                     env={"PAUSES": pauses}).silently()


@pytest.mark.slow
def test_fast_devices():
    """Calls are for devices from the first on, which alone saves what their start costs and waits for it."""
    for pauses in (40, 400, 2000):
        done = patient(FAST, pauses)
        if "on devices: " in done.report:
            break
    done.reported("on devices: the devices are faster",
                  "^The devices are emulated: a rehearsal, whose times mean nothing.$")


def test_ends_while_devices_start():
    preloaded(CALLS, "hasty", ENGINE="host", MACHINE=FAST, MIN_SIZE=8).silently()


@pytest.mark.slow
def test_fast_cpu():
    patient(SLOW, 40).reported("40 on the CPU: the CPU is faster")


def test_sizes():
    small = "2 on the CPU: too small to gain"
    preloaded(CALLS, "plain", ENGINE="host").reported(small)
    preloaded(CALLS, "plain", ENGINE="host", OFFLOAD="always", MIN_SIZE=97).reported(small)
    assert preloaded(CALLS, "plain", ENGINE="host", OFFLOAD="always", MIN_SIZE=96).planned == 2


# ---- Without devices ----


def test_never():
    preloaded(CALLS, "plain", OFFLOAD="never", ENGINE="host").silently().reported(
        "2 on the CPU: TESSERA_OFFLOAD is never")


@pytest.mark.parametrize("engine", ["cuda", "cpu"])
def test_engines(engine):
    preloaded(CALLS, "forks", ENGINE=engine).silently()


def test_driver_without_gpu():
    preloaded(CALLS, "plain", OFFLOAD="always", env={"CUDA_VISIBLE_DEVICES": ""}).silently().reported(
        "2 on the CPU: no device can be used")


def test_memory_taken():
    """All of it: no plan fits."""
    preloaded(CALLS, "threads", ENGINE="host", OFFLOAD="always", MEMORY="2K").silently().reported(
        "on the CPU: the devices could not")


# ---- Settings that make no sense ----


@pytest.mark.parametrize("name, value", [("OFFLOAD", "maybe"), ("MIN_SIZE", "-1"),
                                         ("ENGINE", "abacus"), ("DEVICES", "x")])
def test_wrong_settings(name, value):
    preloaded(CALLS, "plain", **{name: value}).silently().reported(fr'No devices: [\s\S]*"{value}"')


def test_report_to_nowhere():
    preloaded(CALLS, "plain", REPORT="/nowhere/report").silently()


# ---- Other BLASes ----


def test_no_other_blas():
    """Without a BLAS of its own, and with us in the place of its own."""
    preloaded(ALONE, "plain", ENGINE="cpu").silently()
    assert preloaded(ALONE, "plain", ENGINE="host", OFFLOAD="always").planned == 2
    run([ALONE, "plain"], env={"TESSERA_CPU_BLAS": DOORS}).refused("cannot be carried out", code=127)


def test_in_place_of_libblas(tmp_path):
    (tmp_path / "as_blas").mkdir()
    os.symlink(DOORS, "as_blas/libblas.so.3")
    env = {"LD_LIBRARY_PATH": f"{tmp_path}/as_blas:{BUILD}/lib", "TESSERA_ENGINE": "cpu"}
    Used(run([CALLS, "plain"], env=env)).silently()


def test_wide_integers():
    """With 64-bit integers under the plain names: they go on whole."""
    preloaded(BUILD / "tests/dropin_wide", OFFLOAD="never").silently()


def test_blas_that_calls_itself(netlib):
    """The reference CBLAS calls its own Fortran symbols, which are ours: still one call each."""
    preloaded(CALLS, "threads", OFFLOAD="never", env={"LD_LIBRARY_PATH": netlib}).silently().reported(
        "^tessera: 320 level-3 BLAS calls")


@pytest.mark.parametrize("settings, calls", [
    ({"OFFLOAD": "never"}, None), ({"ENGINE": "host"}, None), ({"ENGINE": "host", "MIN_SIZE": "0"}, None),
    ({"OFFLOAD": "never"}, 4),
])
def test_closed(monkeypatch, tmp_path, settings, calls):
    """A BLAS that the program closes, to go on with another; the first by a path that is relative."""
    monkeypatch.chdir(BUILD / "tests")
    env = {"LD_PRELOAD": DOORS, **{"TESSERA_" + name: value for name, value in settings.items()}}
    if calls:
        env["TESSERA_REPORT"] = tmp_path / "report"
    done = run(["./dropin_closed", "blas", "./libdropin_closed_one.so",
                BUILD / "tests/libdropin_closed_other.so"], env=env)
    monkeypatch.chdir(tmp_path)
    used = Used(done).silently()
    if calls:
        used.reported(f"^tessera: {calls} level-3 BLAS calls")


# ---- Libraries with BLASes of their own ----


@pytest.mark.parametrize("settings", [
    {"OFFLOAD": "never"}, {"ENGINE": "cpu"}, {"ENGINE": "host"}, {"ENGINE": "host", "REPORT": "/dev/null"}])
@pytest.mark.parametrize("way", ["two", "later", "inside", "closed", "deep", "global", "tail", "threads",
                                 "forks"])
def test_own_blases(way, settings):
    """Each library's calls go to the BLAS that it is linked with, whatever its name; no other is there."""
    folder = BUILD / "tests"
    run([folder / "dropin_owners", way, folder]).ok().quiet()
    if setting_of_build("CMAKE_BUILD_TYPE") != "Release" and way not in ("deep", "tail"):
        pytest.skip("symbols are jumps, by which the caller is known, where the compiler optimises")
    env = {"LD_PRELOAD": DOORS, "TESSERA_CPU_BLAS": "/none"}
    env.update({"TESSERA_" + name: value for name, value in settings.items()})
    run([folder / "dropin_owners", way, folder], env=env).ok().quiet()


# ---- Batches ----

# Six batches, in three of which each product has 30 x 30 x 30 multiplications; the others are groups of 5,
# 40 and 6, of 9 products as well.
BATCHES = BUILD / "tests/dropin_batches"


@pytest.mark.parametrize("settings, says, reported", [
    ({"OFFLOAD": "never"}, (6, 54), "6 level-3 BLAS calls: 0 on devices, 6 on the CPU"),
    ({"ENGINE": "host"}, (6, 54), "6 on the CPU: too small to gain"),
    ({"ENGINE": "host", "OFFLOAD": "always"}, (0, 0), "6 level-3 BLAS calls: 6 on devices, 0 on the CPU"),
    # The groups of 5 and of 6 go on, before and behind that of 40.
    ({"ENGINE": "host", "OFFLOAD": "always", "MIN_SIZE": "20"}, (6, 21),
     "6 level-3 BLAS calls: 6 on devices, 0 on the CPU"),
    ({"ENGINE": "host", "OFFLOAD": "always", "MIN_SIZE": "35"}, (9, 48),
     "6 level-3 BLAS calls: 3 on devices, 3 on the CPU"),
])
def test_batches(settings, says, reported):
    """Products are decided on one by one; what stays on the CPU goes on in as few calls as can be."""
    done = preloaded(BATCHES, DEVICES=2, **settings).reported(reported)
    done.ok(f"^batch_calls {says[0]}$", f"^batch_products {says[1]}$").quiet()
    done.reported(r"dgemm NN +9\*40x40x40", r"dgemm NN +9\*30x30x30")


def test_wrong_batches():
    """They go on whole, before anything is done."""
    done = preloaded(BATCHES, "wrong", ENGINE="host", OFFLOAD="always")
    done.ok("^batch_calls 1$", "^batch_wrong 1$").quiet()
    done.reported("1 on the CPU: arguments that its BLAS judges")


def test_empty_batch():
    """Calls behind it are offloaded."""
    preloaded(BATCHES, "empty", ENGINE="host", OFFLOAD="always").ok("^batch_calls 1$").quiet()
    assert preloaded(BATCHES, "empty", ENGINE="host", OFFLOAD="always").planned == 1


@pytest.mark.parametrize("engine", ["cpu", "host"])
def test_batches_alone(engine):
    """Also with 64-bit integers: without another BLAS there are all the symbols."""
    preloaded(BUILD / "tests/dropin_batches_alone", "wide", ENGINE=engine, OFFLOAD="always").silently().reported(
        "^tessera: 8 level-3 BLAS calls")


# ---- Wrong arguments, over each BLAS ----


def told_as_without(**env):
    """What handlers are told is what they are told without us."""
    without = run([CALLS, "wrong"], env=env)
    done = preloaded(CALLS, "wrong", ENGINE="host", OFFLOAD="always", env=env)
    assert (done.code, done.out, done.err) == (0, without.out, ""), repr(done)
    assert len(done.out.splitlines()) == 6
    done.reported("6 on the CPU: arguments that its BLAS judges")


def test_wrong_arguments():
    told_as_without(TESSERA_TILE=16)
    preloaded(CALLS, "wrong_ours", ENGINE="host", OFFLOAD="always").silently()
    Used(run([BUILD / "tests/dropin_calls_told", "wrong_alone"])).silently()


def test_wrong_arguments_of_netlib(netlib):
    told_as_without(LD_LIBRARY_PATH=netlib)
    preloaded(CALLS, "wrong_ours", env={"LD_LIBRARY_PATH": netlib}).silently()


def test_while_libraries_are_loaded():
    """By other threads."""
    preloaded(CALLS, "loading", env={"CARRIED_IN": BUILD / "tests"}).silently()


@pytest.mark.parametrize("program", [["true"], ["ls", "/"], ["sh", "-c", ":"], ["cat", ROOT / "README.md"]])
def test_programs_without_a_blas(program):
    without, done = run(program), preloaded(*program, OFFLOAD="always")
    assert (done.code, done.out, done.err) == (0, without.out, ""), repr(done)


# ---- The command ----


def test_run():
    tessera("run --report", CALLS).warns("put -- before")
    run([TESSERA, "run", CALLS, "plain"]).ok()
    tessera("run --", CALLS, "nonsense").exits(2)
    tessera("run --", "/no/such/program").exits(127)
    tessera("run").exits(2)


@pytest.mark.parametrize("wrong", [
    "--offload maybe", "--min-size 1.5", "--engine abacus", "--devices 1;2", "--devices -1",
    "--devices ...2", "--machine gpuu*2", "--machine no.json", "--memory lots", "--tile x",
])
def test_run_refuses(wrong):
    done = run([TESSERA, "run", *wrong.split(), "--", "touch", "begun"]).exits(2)
    assert not os.path.exists("begun")
    assert len([line for line in done.err.splitlines() if wrong.split()[0] in line]) == 1, repr(done)


def test_run_options_arrive(tmp_path):
    assert tessera("run --min-size 1e3 --", "sh", "-c", "echo $TESSERA_MIN_SIZE").ok().out == "1000\n"
    tessera("run --engine host --devices 1, --memory 16M,32M --tile 16 --min-size 0 --offload always "
            "--report-to here --", "sh", "-c", f"cd / && '{CALLS}' plain")
    assert "tessera: 2 level-3 BLAS calls: 2 on devices" in (tmp_path / "here").read_text()


def test_run_finds_the_machine(tmp_path):
    (tmp_path / "small.json").write_bytes((ROOT / "machines/h200x4.json").read_bytes())
    tessera("run --devices ..2 --machine small.json --", "sh", "-c",
            'cd / && cat "$TESSERA_MACHINE" && echo $TESSERA_DEVICES').says(r"^\.\.2$")


def test_run_of_scripts(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    tessera("run -- ./script").exits(127)
    script.chmod(stat.S_IRUSR)
    tessera("run -- ./script").exits(126)


def test_run_reports():
    two = "^tessera: 2 level-3 BLAS calls: "
    tessera("run --report --", CALLS, "plain").warns(two)
    tessera("run --report --", CALLS, "plain", under=limited("-n 20")).warns(two)  # few files
    tessera("run --report -- true").warns("^tessera: 0 level-3 BLAS calls: ")
    once = tessera("run --report -- timeout 20 true")
    assert once.err.count("level-3 BLAS calls") == 1, repr(once)


@pytest.mark.parametrize("program, says", [
    (["true"], "It loaded no BLAS library"),
    ([BUILD / "tests/dropin_static_blas"], "Its BLAS is linked statically"),
    (["/usr/bin/python3", "-c", "import os"], "This Python did not import NumPy"),
])
def test_run_says_why_no_call_came_in(program, says):
    done = tessera("run --report --", *program).warns("^tessera: 0 level-3 BLAS calls: ", says)
    assert max(map(len, done.err.splitlines())) <= 80, repr(done)


def test_run_says_what_a_lapack_hides():
    """A BLAS is loaded, and no call comes in: LAPACK's are made inside of it."""
    done = tessera("run --report --", "/usr/bin/python3", "-c",
                   "import ctypes, sys; ctypes.CDLL(sys.argv[1])", setting_of_build("TESSERA_TEST_BLAS"))
    done.warns("^It has loaded the BLAS /", "What helps is a LAPACK apart")


# One product of 8 x 8 by the name that programs have, then a quarter of a second of something else.
LITTLE = """
import ctypes, sys, time
for library in sys.argv[1:]: ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
n, one, x = ctypes.byref(ctypes.c_int(8)), ctypes.byref(ctypes.c_double(1)), (ctypes.c_double * 64)()
y, z = (ctypes.c_double * 64)(), (ctypes.c_double * 64)()
ctypes.CDLL(None).dgemm_(b"N", b"N", n, n, n, one, x, n, y, n, one, z, n)
time.sleep(0.25)
"""


def test_run_says_how_much_a_lapack_may_hide():
    """Little came in, and the BLAS has a LAPACK inside."""
    done = tessera("run --report --", "/usr/bin/python3", "-c", LITTLE, setting_of_build("TESSERA_TEST_BLAS"))
    done.warns("^tessera: 1 level-3 BLAS call: ", "^Of the rest up to [0-9.]+ m?s \\([0-9]+ %\\) may be LAPACK", "What helps is")
    assert max(map(len, done.err.splitlines())) <= 80, repr(done)
    alone = tessera("run --report --", "/usr/bin/python3", "-c", LITTLE).warns("^tessera: 1 level-3 BLAS call: ")
    assert "LAPACK" not in alone.err  # the CPU's BLAS is loaded, but not by the program


def test_run_names_the_rank():
    done = tessera("run --report -- true", env={"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"})
    done.warns("^tessera: rank 1 of 2 processes:$")


def test_run_says_what_cannot_be_reached(tmp_path):
    source = tmp_path / "plain.c"
    source.write_text("int main(void) { return 3; }\n", encoding="utf-8")
    if run(["cc", "-static", source, "-o", tmp_path / "plain"]).code != 0:
        missing("static C library")
    tessera("run --", tmp_path / "plain").exits(3).warns("plain is linked statically, so nothing can come")
    run(["cc", source, "-o", tmp_path / "owned"]).ok()
    assert tessera("run --", tmp_path / "owned").exits(3).err == ""
    (tmp_path / "owned").chmod(0o4755)
    tessera("run --", tmp_path / "owned").warns("owned runs with the rights of its owner")


def test_run_reports_the_share_of_time():
    done = tessera("run --report --", CALLS, "plain").warns(
        r"^tessera: dropin_calls took [0-9.]+ m?s, [0-9.]+ [mu]?s of it \(\d+ %\) in level-3 BLAS")
    assert max(map(len, done.err.splitlines())) <= 80, repr(done)


def test_run_ignores_no_signal():
    ignored = ["grep", "SigIgn", "/proc/self/status"]
    assert tessera("run --", *ignored).out == run(ignored).out != ""


def test_run_explains():
    done = tessera("run --explain --engine host --devices 4 --offload always --", CALLS, "plain").warns(
        r"^ +1 dgemm NN +96x96x96 +4 emul\. .* offload: always$", "^ +predicted: CPU .*, devices ")
    assert done.err.count("dgemm NN") == 2, repr(done)  # one is row-major


def test_run_keeps_preloads():
    done = tessera("run --", "sh", "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": "/lib/libnonesuch.so"})
    assert re.search(":/lib/libnonesuch.so$", done.out, re.MULTILINE), repr(done)
