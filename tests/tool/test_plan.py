# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""tessera plan: plans of every operation, in words and as JSON."""
import json

import pytest

from support import HERE, ROOT, tessera


def plan(words, machine=HERE):
    return tessera("plan " + words, "--machine", machine)


def test_plan():
    plan("gemm d 8192 8192 8192 --home h,h,h").ok()
    shown = plan("gemm d 8192 8192 8192 --home h,h,h --json").json()
    assert {"predicted_s", "floor_s", "bytes", "devices", "tile"} <= shown.keys()
    assert plan("trsm d 4096 2048 --json").json()["call"] == "dtrsm LLNN"


def test_commands_and_timeline(tmp_path):
    plan("gemm s 4096 1024 2048 --home 0,u,3 --transa T --beta 0 --commands --timeline p.svg").ok()
    assert "<svg" in (tmp_path / "p.svg").read_text()


@pytest.mark.parametrize("words, lines", [
    ("gemm d 512 256 128 --transa T", ["dgemm TN 512 x 256 x 128, alpha 1, beta 1"]),
    ("gemmt c 300 128 --uplo upper --transb C", ["cgemmt UNC 300 x 300 x 128"]),
    ("symm d 300 200", ["dsymm LL 300 x 200 x 300"]),
    ("hemm z 300 200 --side right --uplo upper", ["zhemm RU 300 x 200 x 200"]),
    ("syrk d 300 128 --alpha x --beta 0", ["dsyrk LN 300 x 300 x 128, alpha any, beta 0"]),
    ("herk c 300 128 --transa C", ["cherk LC 300 x 300 x 128"]),
    ("syr2k d 300 128 --transa T --uplo upper", ["dsyr2k UT 300 x 300 x 128"]),
    ("her2k z 300 128", ["zher2k LN 300 x 300 x 128"]),
    ("trmm d 300 200 --side right --transa T --diag unit --ldb 400",
     ["dtrmm RLTU 300 x 200 x 200, alpha 1$", r".*\(the routine's B\) 300 x 200, ld 400"]),
    ("trsm d 300 200 --uplo upper --home h,3",
     ["dtrsm LUNN 300 x 200 x 300", r".*\(the routine's B\) .*device 3"]),
])
def test_operations(words, lines):
    plan(words + " --details").ok(*("^" + line for line in lines))


@pytest.mark.parametrize("words, matrix", [("trsm d 16384 16384", "B"), ("trmm s 16384 16384 --side right", "B"),
                                           ("symm d 16384 16384", "C")])
def test_the_matrix_that_is_cut_has_its_own_name(words, matrix):
    tessera(f"plan {words} --machine h200x8").ok(rf"predicted on 8 GPUs, {matrix} in \d x \d parts")


def test_syrk_has_no_b():
    shown = plan("syrk d 300 128 --details").ok()
    assert [line[:3] for line in shown.out.splitlines() if line[:3] in ("  A", "  B", "  C")] == \
        ["  A", "  C"]


@pytest.mark.parametrize("extents", ["10000 10000 20000", "10k 1e4 20k", "0.01M 10K 2e4"])
def test_extents_may_be_short(extents):
    tessera(f"plan gemm d {extents} --machine gpu*1").ok("^dgemm NN 10000 x 10000 x 20000, ")


@pytest.mark.parametrize("command, words, wrong", [
    ("plan", "gemm d 8 8 8 --machine gpu*1 --home x", "h or p pinned host, u pageable host, 0.. a device, m managed"),
    ("gemm", "a.npy b.npy --home x", "h as mapped, p pinned host, u pageable host, 0.. a device"),
    ("bench", "--home x", "h or p pinned host, u pageable host, 0.. a device"),
])
def test_homes_have_the_same_words_everywhere(command, words, wrong):
    """In the help and in the error."""
    assert wrong in tessera(f"{command} {words}").refused().err
    assert wrong in " ".join(tessera(command, "--help").ok().out.split())


@pytest.mark.parametrize("words, message", [
    ("dgemm", "OP dgemm: no such operation; did you mean gemm d\\?"), ("gemm", "too few arguments"),
    ("dgemm 8 8 8", "OP dgemm: no such operation; did you mean gemm d\\?"),
    ("gem d 8 8 8", "did you mean gemm\\?"),
    ("solve d 8 8 8", "OP solve: .* give gemm, "),
    ("syrk d 8 8 8", "too many arguments: syrk TYPE N K"),
    ("trsm d 8", "too few arguments: trsm TYPE M N"),
    ("syrk d 8 x", "K 'x'"),
    ("symm d 8 8 --side up", "--side up: must be left or right"),
    ("syrk d 8 8 --uplo left", "--uplo left: must be lower or upper"),
    ("trmm d 8 8 --diag 1", "--diag 1: must be unit or non-unit"),
    ("syrk d 8 8 --side left", "--side left: syrk has no such"),
    ("trsm d 8 8 --transb T", "--transb T: trsm has no such"),
    ("trmm d 8 8 --beta 0", "--beta 0: trmm has no beta"),
    ("trsm d 8 8 --ldc 9", "--ldc 9: trsm has no C"),
    ("syrk h 8 8", "TYPE h: syrk takes s, d, c or z"),
    ("hemm d 8 8", "TYPE d: hemm takes c or z"),
    ("herk z 8 8 --transa T", "--transa T: herk .* N or C"),
    ("syrk d 8 8 --home h,h,h", "two places for A,C"),
    ("syrk d 8 8 --model choi", "its formula is for gemm"),
])
def test_refused(words, message):
    tessera("plan " + words).refused(message)


@pytest.mark.parametrize("machine, devices, homes, tile", [
    ("v100x4", 3, "0,1,2", 2048), ("v100x4", 4, "0,1,2", 2048), ("gtx1070x4", 4, "0,1,2", 4096),
    ("v100x4", 2, "0", 1024), ("gtx1070x4", 2, "0", 2048),
])
def test_model_of_choi(machine, devices, homes, tile):
    """Their two machines, and the tiles of their Table 1."""
    plan(f"gemm s 16384 16384 16384 --home {homes} --model choi --devices {devices}",
         ROOT / f"machines/{machine}-choi.json").ok(
             f"^model choi: tiles of {tile}$", r"^  \(1\)   T_GEMM", r"^  \(7\)   T_kernel",
             r"^  \(8\)   T_task", "the plan below, replayed")


CHOI = ROOT / "machines/v100x4-choi.json"


def test_times_of_choi():
    """Equations (1) to (14) for 1024 on two of their machine, beside the replay of the same plan."""
    made = plan("gemm s 32768 32768 32768 --home 0 --model choi --devices 2 --json", CHOI).json()
    choi = made["choi"]
    math, band = 2 * 1024 ** 2 * 32768 / 14899e9, 4 * 1024 * 32768 / 48.33e9
    assert choi["tile"] == 1024 and choi["gemm_s"] == choi["kernel_s"] == pytest.approx(math, rel=1e-6)
    assert choi["transfer_s"] == pytest.approx(band, rel=0.01)  # and latency
    band = choi["transfer_s"]
    assert choi["task_s"] == pytest.approx(3 * band + 32768 / 1024 / 2 * math)
    assert choi["task_of_all_s"] == pytest.approx(3 * band + 32 ** 2 / 2 * math)
    assert made["predicted_s"] == pytest.approx(choi["task_of_all_s"], rel=0.03)
    assert made["why"].startswith("bands; extent 1024; 2 bands of an operand at a time")


@pytest.mark.parametrize("words, message", [
    ("s 16384 16384 16384", "matrices on devices, and A is in host memory"),
    ("s 16384 16384 16384 --home 0,0,u", "and C is in host memory"),
    ("s 16384 16384 8192 --home 0", "square matrices, not 16384 x 16384 x 8192"),
    ("s 100 100 100 --home 0", "tiles of 1024 on 2 devices need extents of 2048 or more, not 100"),
])
def test_conditions_of_choi(words, message):
    plan(f"gemm {words} --model choi --devices 2", CHOI).refused(message)


@pytest.mark.parametrize("table, field, value, message", [
    ("devices", "speed", 0.5, "takes devices for equal; device 1 computes 2 times as fast as device 0"),
    ("links", "bandwidth", 24e9, "takes links for equal; from device 0 to 2 there are 48.3 GB/s, and 24 on another"),
])
def test_choi_is_for_like_machines(tmp_path, table, field, value, message):
    machine = json.loads(CHOI.read_text(encoding="utf-8"))
    machine[table][0][field] = value
    (tmp_path / "machine.json").write_text(json.dumps(machine), encoding="utf-8")
    plan("gemm s 16384 16384 16384 --home 0 --model choi", tmp_path / "machine.json").exits(1).warns(message)


def test_choi_needs_rates(tmp_path):
    machine = json.loads(CHOI.read_text(encoding="utf-8"))
    del machine["rates"]["s"]
    (tmp_path / "machine.json").write_text(json.dumps(machine), encoding="utf-8")
    plan("gemm s 16384 16384 16384 --home 0 --model choi", tmp_path / "machine.json").exits(1).warns(
        "does not say how fast kernels of type s, the memory of devices")


@pytest.mark.slow
@pytest.mark.parametrize("devices, blocks, chunk, ahead", [(1, 3, 3, 2), (3, 2, 3, 2), (6, 1, 2, 1)])
def test_model_of_parsec(devices, blocks, chunk, ahead):
    """C takes three quarters of the memory at most, in even blocks; chunks are as deep as the rest has room for."""
    machine = ROOT / "machines/summit-node.json"
    call = "gemm d 35000 35000 35000 --model parsec --memory 3.2G --devices "
    made = plan(f"{call}{devices} --json --alone", machine).json()
    cut, block = made["parsec"], made["c_block"]
    assert (cut["x"], cut["y"], cut["d"], cut["l"], cut["tile"]) == (blocks, blocks, chunk, ahead, 1024)
    wide = -(-cut["c"] // devices)
    assert (block["b"], block["c"], block["d"], block["l"]) == (cut["b"], wide, chunk, ahead)
    slots = 3.2e9 // (8 * 1024 ** 2)
    assert cut["b"] * wide <= 0.75 * slots
    assert cut["b"] * wide + (1 + ahead) * (cut["b"] + wide) * chunk <= slots
    loaded = max(d["host"] + d["peers"] for d in made["loads"])
    assert loaded == pytest.approx(made["equation"]["bytes"], rel=0.1)
    if devices == 1:
        plan(f"{call}1", machine).ok("^model parsec: tiles of 1024", "^loads, GB .*equation [(]1c[)]")


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["option", "environment"])
def test_emulated_is_kept_to_or_refused(monkeypatch, setting):
    """Square tiles are native: words and models that force them refuse an emulated product, and decide for auto."""
    def made(words, arithmetic):
        if setting == "environment":
            monkeypatch.setenv("TESSERA_ARITHMETIC", arithmetic)
            return plan(words, "h200x4")
        return plan(f"{words} --arithmetic {arithmetic}", "h200x4")
    call = "gemm d 8192 8192 8192"
    for model in ("parsec", "uncut"):
        made(f"{call} --model {model}", "emulated").refused(f"--model {model}: its tiles are native")
        assert made(f"{call} --model {model} --json", "auto").json()["verdict"]["arithmetic"]["moduli"] == 0
    for words in ("tiles", "tiles tile=1024", "tile=1024 depth=2"):
        monkeypatch.setenv("TESSERA_STRATEGY", words)
        made(call, "emulated").exits(1).warns("panels and bands|depth belongs to")
        assert made(f"{call} --json", "auto").json()["verdict"]["arithmetic"]["moduli"] == 0
        assert made(f"{call} --json", "native").json()["verdict"]["arithmetic"]["moduli"] == 0
    for words in ("panels", "bands", "any/kind=tiles", "tile=1024"):
        monkeypatch.setenv("TESSERA_STRATEGY", words)
        assert made(f"{call} --json", "emulated").json()["verdict"]["arithmetic"]["moduli"] > 0


def test_parsec_refuses():
    plan("gemm d 70000 70000 70000 --model parsec --tile 50000", "h200x4").exits(1).warns("tiles of 50000 do not fit")
    plan("syrk d 8192 8192 --model parsec").refused("its formula is for gemm")
    small = plan("gemm d 512 512 512 --model parsec --tile 128 --devices 2 --json").json()
    assert small["parsec"]["everything"] and small["c_block"] is None


@pytest.mark.slow
def test_equation_of_loads_has_a_condition(monkeypatch):
    """A block with chunks that the memory cannot have at a time: the equation does not apply, and that is said."""
    monkeypatch.setenv("TESSERA_STRATEGY", "tiles grid=1x1 tile=1024 cblock=19,19 depth=4 lookahead=10")
    machine = ROOT / "machines/v100x3-summit.json"
    words = "gemm d 35000 35000 35000 --devices 1 --memory 3.2G"
    plan(words + " --model paper", machine).ok("^Equation [(]1[)] does not apply: .* take 513 tiles", "at least$")
    assert plan(words + " --json", machine).json()["equation"] is None


def test_bands_in_one_word(monkeypatch):
    monkeypatch.setenv("TESSERA_STRATEGY", "bands")
    made = plan("gemm s 16384 16384 16384 --home 0 --devices 2 --json", CHOI).json()
    assert made["why"].startswith("bands; extent ")
    plan("syrk s 16384 16384 --home 0 --devices 2", CHOI).exits(1).warns("cut into panels and tiles")
    monkeypatch.setenv("TESSERA_STRATEGY", "bands kpanel=512")
    plan("gemm s 16384 16384 16384 --home 0 --devices 2", CHOI).exits(1).warns("kpanel.first belongs to")


@pytest.mark.parametrize("shape, devices, tile, grid", [
    ("8192 8192 8192", 4, 2048, [2, 2]), ("10007 10007 10007", 8, 2048, [2, 4]),
    ("5120 5120 5120", 8, 1280, [2, 4]), ("100 100 100", 2, 50, [1, 2])])
def test_model_of_uncut(shape, devices, tile, grid):
    """The penalties, one by one."""
    made = plan(f"gemm d {shape} --model uncut --devices {devices} --json", "gpu*8@nvswitch:300").json()
    uncut, n = made["uncut"], int(shape.split()[0])
    assert uncut["tile"] == uncut["rule"] == tile and uncut["grid"] == grid == made["grid"]
    assert uncut["padding"] == pytest.approx(3 * tile / n if n % tile else 0)
    assert uncut["overlap"] == pytest.approx(devices / -(-n // tile) ** 3)
    assert uncut["latency"] == pytest.approx(0.2 * 2048 / tile if tile < 2048 else 0)
    assert uncut["total"] == pytest.approx(uncut["padding"] + uncut["overlap"] + uncut["latency"])
    plan(f"gemm d {shape} --model uncut --devices {devices} --tile 500", "gpu*8@nvswitch:300").ok(
        "^model uncut: tiles of 500 on a grid", "padding .* = ")


def test_idle_time():
    """Each device's busy and idle time add up to the plan's; in text and JSON."""
    call = "gemm d 8192 8192 8192 --devices 4"
    made = plan(call + " --json", "host:200 gpu*4@nvswitch:300 pcie:25 rate:19").json()
    assert [i["device"] for i in made["idle"]] == [0, 1, 2, 3]
    for i in made["idle"]:
        assert i["busy_s"] + i["idle_s"] == pytest.approx(made["predicted_s"], rel=0.001)
        assert i["idle_s"] == pytest.approx(i["before_s"] + i["between_s"] + i["after_s"], rel=1e-4)
        assert min(i.values()) >= 0 and i["before_s"] > 0
    plan(call + " --details", "host:200 gpu*4@nvswitch:300 pcie:25 rate:19").ok(
        "^kernels, ms +busy +idle: before +between +after", "^  device 3 ")


def test_other_models():
    plan("gemm s 64 64 64 --model other").refused("replay, choi, uncut, parsec or paper")


def test_what_does_not_fit():
    """C blocks, loads, and equation (1) of Herault et al."""
    large, machine = "gemm d 20000 20000 20000 --devices 4 --memory 1G ", ROOT / "machines/h200x4.json"
    plan(large + "--model paper", machine).ok(r"^C blocks .*\(b x c\), .*\(d\), .*\(l\)",
                                              r"at least  equation \(1c\)")
    assert plan(large + "--json", machine).json()["c_block"].keys() == set("bcdl")
