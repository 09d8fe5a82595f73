# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The verdict on a plan: what binds, why so many devices, what would be faster, in the user's words."""
import json
import re

import pytest

from support import ROOT, tessera

H200X4, H200X8, A100X8 = (ROOT / f"machines/{name}.json" for name in ("h200x4", "h200x8", "a100x8"))


def plan(words, machine, *more):
    """The plan as JSON, without alternatives unless more says so."""
    return tessera("plan " + words, "--machine", machine, "--json", *(more or ["--alone"])).json()


def verdict(words, machine, *more):
    return plan(words, machine, *more)["verdict"]


def said(words, machine):
    """The sentences in one line."""
    return " ".join(tessera("plan " + words, "--machine", machine).ok().out.splitlines()[2:])


# ---- What binds ----


@pytest.mark.parametrize("words, machine, kind, what", [
    ("gemm d 8192 8192 8192", "host:20 gpu*4@nvswitch:300 pcie:25", "channel", "host memory"),
    ("gemm d 8192 8192 8192", "host*2:20 gpu*4@nvswitch:300 pcie:25", "channel", "host memory, node 0"),
    ("gemm d 8192 8192 8192 --devices 4", "host:200 gpu*4 pcie:10/pair", "channel",
     "the shared links to the GPUs"),
    ("gemm d 8192 8192 8192 --devices 4", "host:200 gpu*4 pcie:10/all", "channel",
     "the shared link to GPUs 0 to 3"),
    ("gemm d 8192 8192 8192 --devices 2", "host:200 gpu*2 pcie:5", "link", "the links to the GPUs"),
    ("gemm d 8192 8192 8192 --devices 1", "host:200 gpu*1 pcie:5", "link", "the link to GPU 0"),
    ("gemm d 8192 8192 64 --beta 0 --devices 1", "host:200 gpu*1 pcie:5", "link", "the link from GPU 0"),
    ("gemm d 8192 8192 8192", "host:200 gpu*4@nvswitch:300 pcie:50 rate:0.5", "kernels", "kernels"),
    ("gemm d 8192 8192 8192 --home u", "host:200 gpu*4@nvswitch:300 pcie:50 rate:50 staging:4@5/20",
     "channel", "the copying of pageable memory"),
    ("gemm d 1 8192 8192 --home 0", "host:200 gpu*1 pcie:50 rate:50 hbm:1000", "memory", "GPU memory"),
    ("gemm d 192 192 192 --devices 4", "host:200 gpu*4@nvswitch:300 pcie:50 rate:50 lat:50", "latency",
     "latency"),
    ("gemm d 64 64 64", "host:200 gpu*4@nvswitch:300 pcie:50 cpu:2000", "cpu", "the CPU's BLAS"),
])
def test_what_binds(words, machine, kind, what):
    limit = verdict(words, machine)["limit"]
    assert (limit["kind"], limit["what"]) == (kind, what)
    assert what in said(words, machine)


def test_one_slow_link(tmp_path):
    """Of four equal links one is made slow; each GPU gets an equal part of C, and none passes anything on."""
    text = tessera("machine --json", "--machine", "host:200 gpu*2 pcie:25 rate:50").ok().out
    machine = json.loads(text)
    for link in machine["links"]:
        if link["from"] == "host0" and link["to"] == "gpu1":
            link["bandwidth"] = 4e9
    (tmp_path / "slow.json").write_text(json.dumps(machine))
    limit = verdict("gemm d 8192 8192 8192 --devices 2", tmp_path / "slow.json")["limit"]
    assert (limit["kind"], limit["what"]) == ("link", "the link to GPU 1")


def test_busy_is_sorted_and_complete():
    v = verdict("gemm d 16384 16384 16384", H200X4)
    busy = [entry["busy"] for entry in v["busy"]]
    assert busy == sorted(busy, reverse=True) and 0 < busy[-1] and busy[0] <= 1
    kernels = {entry["from"] for entry in v["busy"] if entry["kind"] == "kernels"}
    into = {entry["to"] for entry in v["busy"] if entry["what"].startswith("the link to")}
    assert kernels == into == set(v["devices"]["used"]) == {0, 1, 2, 3}
    assert v["rate"] < v["most"] and v["floor"] < v["seconds"]


@pytest.mark.parametrize("k, into, what", [(8192, True, "host memory to the GPUs"),
                                           (1024, False, "host memory from the GPUs")])
def test_directions_of_host_memory(tmp_path, k, into, what):
    """The probe gives host memory a channel for one direction, if that one is slower."""
    machine = tessera("machine --json --machine", "gpu*4@nvswitch:300 pcie:25").json()
    memory = next(c for c in machine["channels"] if c["name"] == "host0 memory")
    memory["uses"] = [use for use in memory["uses"] if (use[0] == "host0") == into]
    memory["capacity"] = 10e9
    (tmp_path / "m.json").write_text(json.dumps(machine))
    v = verdict(f"gemm d 8192 8192 {k} --beta 0", tmp_path / "m.json")
    assert v["limit"]["what"] == what and "ound by " + what in v["text"]


def place(location, plan):
    devices = plan["verdict"]["devices"]["of"]
    return f"device {location}" if location < devices else f"host {location - devices}"


def said_busy(details, line):
    return int(re.search(rf"^  {line} .* busy +(\d+) %$", details, re.MULTILINE)[1])


@pytest.mark.parametrize("source", [H200X4, A100X8, "host*2:150 gpu*4@nvlink:50 pcie:12/pair rate:7"])
def test_busy_has_one_measure(source):
    """Of a channel and of a link there is one figure, wherever it is printed."""
    words = "gemm s 3000 3000 3000"
    told = plan(words, source)
    details = tessera(f"plan {words} --details --machine", source).ok().out
    busy = told["verdict"]["busy"]
    channels = {one["channel"]: one["busy"] for one in busy if "channel" in one}
    assert channels and {i: c["busy"] for i, c in enumerate(told["channels"]) if c["busy"] > 0} == channels
    for i, share in channels.items():
        name = re.escape(told["channels"][i]["name"])
        assert said_busy(details, name) == pytest.approx(100 * share, abs=0.51)
    for one in busy:
        if one["kind"] == "link":
            line = f"{place(one['from'], told)} +-> {place(one['to'], told)}"
            assert said_busy(details, line) == pytest.approx(100 * one["busy"], abs=0.51)


def test_what_does_not_fit():
    words, machine = "gemm d 20000 20000 20000 --memory 1G", "host:100 gpu*2:40@none pcie:25 rate:60"
    assert "The call does not fit into 1.00 GB on each GPU, so its inputs are copied" in said(words, machine)
    assert "a budget of 32.0 GB" in {other["what"] for other in
                                     verdict(words, machine, "--json")["instead"]}


# ---- Devices ----


def test_fewer_devices():
    words = "gemm d 2048 2048 2048"
    v = verdict(words, A100X8, "--json")
    assert v["devices"]["used"] == [0, 2, 4, 6] and v["devices"]["of"] == 8
    assert v["devices"]["on_all"] == pytest.approx(plan(words + " --devices 8", A100X8)["predicted_s"])
    assert re.search(r"GPUs 0, 2, 4 and 6 do it alone, since the others share their links: all 8 would take "
                     r"[\d.]+ ms instead of [\d.]+ ms\.", said(words, A100X8))


def test_all_devices_are_no_news():
    assert verdict("gemm d 16384 16384 16384", H200X4)["devices"]["why"] == ""


def test_the_cpu():
    machine = "host:200 gpu*4@nvswitch:300 pcie:50 cpu:2000"
    assert re.match(r"Bound by the CPU's BLAS: .* The GPUs would take [\d.]+ us, the CPU takes [\d.]+ us\.",
                    said("gemm d 64 64 64", machine))


# ---- Alternatives ----


def placed(what, count):
    """Options for "A, B and C on GPUs 0, 1 and 2" and the like."""
    names, _, where = what.partition(" on ")
    homes = dict(zip(re.findall("[ABC]", names), re.findall(r"\d+", where) * count))
    return "--home " + ",".join(homes.get(letter, "h") for letter in "ABC")


@pytest.mark.parametrize("machine, extents", [(H200X4, "16384 16384 16384"), (H200X8, "8192 4096 2048"),
                                              (A100X8, "4096 4096 4096")])
def test_alternatives_are_plans(machine, extents):
    v = verdict("gemm d " + extents, machine, "--json")
    seconds = [other["seconds"] for other in v["instead"]]
    assert seconds and seconds == sorted(seconds) and seconds[-1] < 0.97 * v["seconds"]
    for other in v["instead"]:
        assert other["what"][0] in "ABC"
        alone = plan(f"gemm d {extents} {placed(other['what'], 3)}", machine)
        assert other["seconds"] == pytest.approx(alone["predicted_s"], rel=1e-6), other["what"]
        assert other["rate"] == pytest.approx(alone["verdict"]["rate"], rel=1e-6)


def test_fewer_and_pinned_instead():
    what = {other["what"]: other["seconds"] for other in verdict(
        "gemm d 8192 8192 8192 --home u --devices 4", "host:200 gpu*4 pcie:10/pair rate:50", "--json")["instead"]}
    free = plan("gemm d 8192 8192 8192 --home u", "host:200 gpu*4 pcie:10/pair rate:50")
    names = " and ".join(map(str, free["verdict"]["devices"]["used"]))
    assert what[f"GPUs {names} alone" if "and" in names else f"GPU {names} alone"] == \
        pytest.approx(free["predicted_s"], rel=1e-6)


@pytest.mark.parametrize("extents, machine, home, words, gain", [
    ("16384 16384 16384", "h200x8-sockets", "h", "interleaved over all nodes (numactl --interleave=all, tsr_malloc)", 1.8),
    ("8192 8192 8192", "a100x8-sockets", "h1", "interleaved over all nodes (numactl --interleave=all, tsr_malloc)", 1.2),
    ("8192 8192 8192", "h200x8-sockets", "u", "pinned and interleaved over all nodes (tsr_malloc)", 1.5),
])
def test_host_memory_is_the_cheapest_remedy(extents, machine, home, words, gain):
    """It is planned like all alternatives, and said before those that take the memory of GPUs."""
    told = plan(f"gemm d {extents} --home {home}", machine, "--json")
    v, spread = told["verdict"], plan(f"gemm d {extents} --home hi", machine)
    one = next(other for other in v["instead"] if other["what"] == "A, B and C " + words)
    assert one["seconds"] == pytest.approx(spread["predicted_s"], rel=1e-6)
    assert v["seconds"] > gain * one["seconds"]
    assert f"With A, B and C {words}: " in v["text"] and v["text"].count("With") == 1


@pytest.mark.parametrize("words, machine", [
    ("gemm d 16384 16384 16384", "a100x8-sockets"),       # saves 3 %
    ("gemm d 16384 16384 16384 --home hi", "h200x8-sockets"),  # is interleaved
    ("gemm d 16384 16384 16384 --home 0,1,2", "h200x8-sockets"),
    ("gemm d 16384 16384 16384", "h200x8"),               # has one node
    ("gemm d 16384 16384 16384", "host*2:170 interleaved gpu*8:80@nvswitch:300"),
])
def test_interleaving_that_gains_nothing_is_not_named(words, machine):
    assert not [other for other in verdict(words, machine, "--json")["instead"] if "interleaved" in other["what"]]


@pytest.mark.parametrize("words, machine, node", [
    ("gemm d 512 512 512", "h200x8-sockets", 0), ("gemm d 512 512 512 --home 0,h1,h1", "h200x8-sockets", 1),
    ("gemm d 512 512 512 --home h1,h,h", "h200x8-sockets", None), ("gemm d 512 512 512 --home hi", "h200x8-sockets", None),
    ("gemm d 512 512 512 --home 0", "h200x8-sockets", None), ("gemm d 512 512 512", "h200x8", None),
])
def test_the_call_names_its_node(words, machine, node):
    first = tessera("plan " + words, "--machine", machine).ok().out.splitlines()[0]
    assert first.partition(", in host memory on node ")[2] == ("" if node is None else str(node))


# ---- Estimates ----


@pytest.mark.parametrize("words, machine, clause", [
    ("gemm d 16384 16384 16384", "h200x4", None),
    ("gemm z 8192 8192 8192", "h200x4", "an estimate (extrapolated: kernels)"),
    ("gemm d 16384 16384 16384", "h200x8", "an estimate (extrapolated: host memory, links between GPUs)"),
    ("gemm d 16384 16384 16384 --home 0", "h200x8", "an estimate (extrapolated: .*links between GPUs)"),
    ("gemm d 8192 8192 8192 --home 0 --devices 1", "h200x8", None),  # one GPU was measured
    ("gemm d 16384 16384 16384 --home hi", "h200x8-sockets", "an estimate (.*; data sheet: links between sockets)"),
    ("gemm d 64 64 64", "mi300x8", "an estimate (assumed: CPU)"),
    ("gemm d 8192 8192 8192", "gpu*4 pcie:25", None),  # the user says all of it
])
def test_estimates_say_so(words, machine, clause):
    """One clause, and two digits."""
    v = verdict(words, machine)
    digits = re.findall(r"(\d[\d.]*) (?:of at most|TFLOP/s|GFLOP/s|ms\b)", v["text"])
    assert digits
    if clause is None:
        assert v["estimate"] is None and "estimate" not in v["text"]
        assert any(len(number.replace(".", "")) == 3 and not number.endswith("0") for number in digits)
        return
    assert re.fullmatch(clause.replace("(", r"\(").replace(")", r"\)"), v["estimate"]) and v["text"].count("estimate") == 1
    assert all(len(number.replace(".", "").strip("0")) <= 2 for number in digits), digits


def test_a_floor_that_is_far_away_has_a_reason():
    times = plan("gemm d 16384 16384 16384", "mi300x8")
    size = 8 * 16384 ** 2
    copied = sum(count for pair, count in times["bytes"].items() if pair.startswith("host->"))
    reads = (copied - size) / (2 * size)
    assert reads > 2 and f"The floor reads A and B once, this plan {reads:.1f} times." in times["verdict"]["text"]
    assert "The floor reads" not in verdict("gemm d 16384 16384 16384", H200X4)["text"]
    assert "The floor reads A once" in verdict("syrk d 16384 16384", "mi300x8")["text"]
    assert "In the floor no GPU waits" in verdict(
        "gemm d 8192 8192 8192 --home h0,h1,h1", "host*2:150 sockets:20 gpu*8:80@nvswitch:250 pcie:24 rate:17")["text"]


def test_alone():
    """Without alternatives all else is the same."""
    words = "gemm d 16384 16384 16384"
    alone, whole = verdict(words, H200X4), verdict(words, H200X4, "--json")
    assert alone["instead"] == [] and whole["instead"] != []
    for key in ("seconds", "floor", "limit", "busy"):
        assert alone[key] == whole[key]


# ---- In the user's orientation ----


def swapped(text):
    return text.translate(str.maketrans("AB", "BA"))


def test_row_major_is_mirrored():
    """A row-major product is planned as the column-major one of the transposes; its user is not told so."""
    row = plan("gemm d 8192 4096 2048 --layout row --transa T --home h,1,h", H200X4, "--json")
    col = plan("gemm d 4096 8192 2048 --layout col --transb T --home 1,h,h", H200X4, "--json")
    assert (row["m"], row["n"], row["k"]) == (8192, 4096, 2048) and row["call"] == "dgemm TN"
    assert row["layout"] == "row" and col["layout"] == "col"
    assert row["grid"] == col["grid"][::-1]
    assert (row["tile"]["m"], row["tile"]["n"]) == (col["tile"]["n"], col["tile"]["m"])
    assert row["predicted_s"] == col["predicted_s"] and row["bytes"] == col["bytes"]
    words = [[other["what"] for other in p["verdict"]["instead"]] for p in (row, col)]
    assert words[0] and {w for w in words[0] if len(re.findall("[ABC]", w)) == 1} == \
        {swapped(w) for w in words[1] if len(re.findall("[ABC]", w)) == 1}


def test_commands_are_mirrored():
    row = tessera("plan gemm d 512 300 200 --layout row --commands", "--machine", H200X4).ok().out
    col = tessera("plan gemm d 300 512 200 --layout col --commands", "--machine", H200X4).ok().out
    rect = re.compile(r"([ABCW])\[(\d+\.\.\d+), (\d+\.\.\d+)\]")
    mirrored = [(swapped(name), cols, rows) for name, rows, cols in rect.findall(col)]
    assert mirrored and rect.findall(row) == mirrored


@pytest.mark.parametrize("words, lines", [
    ("syrk d 300 128 --transa T", ["dsyrk LT 300 x 300 x 128", "  A 128 x 300, ld 300"]),
    ("trsm d 300 200 --uplo upper", ["dtrsm LUNN 300 x 200 x 300", "  C .the routine's B. 300 x 200, ld 200"]),
    ("symm d 300 200 --side right", ["dsymm RL 300 x 200 x 200", "  B 300 x 200, ld 200"]),
    ("her2k z 300 128 --home 0,h,h", ["zher2k LN 300 x 300 x 128", "  A 300 x 128, ld 128: device 0"]),
])
def test_row_major_operations(words, lines):
    tessera(f"plan {words} --layout row --details", "--machine", H200X4).ok(*("^" + line for line in lines))


def test_timelines_name_the_users_matrices(tmp_path):
    """Only B is in host memory, so only B is copied from there."""
    tessera("plan gemm d 4096 4096 4096 --beta 0 --layout row --home 0,h,0 --timeline t.json", "--machine",
            H200X4).ok()
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    copies = {e["name"] for e in events if e["ph"] == "X" and e["tid"] == 0}  # queues into devices
    assert copies == {"copy of B"}


# ---- Lines ----


@pytest.mark.parametrize("words", [
    "gemm d 16384 16384 16384", "gemm z 3000 50000 700 --home u --memory 1G --layout row", "trsm d 20000 3000",
    "syrk s 9000 9000 --devices 3", "symm d 5000 70 --side right --tile 256",
])
def test_80_columns(words):
    done = tessera("plan --details " + words, "--machine", H200X8).ok()
    assert [line for line in done.out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("arithmetic, n, moduli, other", [
    ("native", 2048, 0, None), ("emulated", 2048, 14, None), ("emulated:1e-10", 2048, 11, None),
    ("auto", 2048, 0, 14), ("auto:1e-10", 2048, 0, 11), ("auto:1e-3", 2048, 5, 0), ("auto", 8192, 14, 0),
])
def test_arithmetics(arithmetic, n, moduli, other, monkeypatch):
    """Which way was taken, by the option and by the setting, and with auto how long the other one takes."""
    words = f"gemm d {n} {n} {n} --devices 1 --home 0"
    v = verdict(f"{words} --arithmetic {arithmetic}", H200X4)
    found = v["arithmetic"]
    assert (found["moduli"], found["other_moduli"]) == (moduli, other)
    asked = float(arithmetic.partition(":")[2]) if ":" in arithmetic and moduli else None
    assert found["accuracy"] == asked
    if other is None:
        assert found["other_seconds"] is None
    else:
        kept = {0: "native", 14: "emulated", 11: "emulated:1e-10"}[other]
        assert found["other_seconds"] == verdict(f"{words} --arithmetic {kept}", H200X4)["seconds"] > v["seconds"]
    monkeypatch.setenv("TESSERA_ARITHMETIC", arithmetic)
    assert verdict(words, H200X4)["arithmetic"] == found


def test_arithmetics_that_are_none():
    for wrong in ("auto:12", "auto:", "auto:1", "emulated:3"):
        tessera("plan gemm d 99 99 99 --arithmetic", wrong, "--machine", H200X4).refused(
            f'arithmetic is "{wrong}"; give native, emulated, auto, emulated:M with 4 to 16 moduli, or '
               "emulated:X or auto:X with an accuracy X below 1, such as 1e-10", code=1)


def test_emulated_devices_have_no_times():
    done = tessera("plan gemm d 3000 3000 3000 --engine host --devices 4 --details").ok(
        "^On 4 emulated devices: a rehearsal, its times mean nothing.$", "^times      none")
    assert "floor" not in done.out and "busy" not in done.out and "FLOP/s" not in done.out
    told = tessera("plan gemm d 3000 3000 3000 --engine host --devices 4 --json --alone").json()
    assert all(channel["busy"] is None for channel in told["channels"])
