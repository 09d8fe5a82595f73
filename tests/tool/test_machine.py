# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""tessera machine: ten lines, tables, names, a picture."""
import json
import re
from xml.etree import ElementTree

import pytest

from support import HERE, ROOT, tessera

MACHINES = sorted(path.stem for path in (ROOT / "machines").glob("*.json"))
STRINGS = [HERE, "gpu*1", "host:100 cpu:500", "host*2:150 gpu*4@pcie pcie:12/2 rate:7",
           "host*2:150 interleaved gpu*3@nvlink:50", "host*8:9 gpu*32@nvswitch:3 pcie:2"]
TYPES = {"fp64": "d", "fp32": "s", "TF32": "t", "fp16": "h", "bf16": "b"}


def load(name):
    return json.loads((ROOT / f"machines/{name}.json").read_text(encoding="utf-8"))


def link(machine, start, end):
    return next(x["bandwidth"] for x in machine["links"] if (x["from"], x["to"]) == (start, end))


def near(shown, value):
    """Three digits, or two of small numbers."""
    return shown == pytest.approx(value, rel=0.006)


def rows(text):
    """The table's rows by their first word: "GPU", "together", "CPU"."""
    table = text.split("\n\n")[1].splitlines()[2:]
    return {line.split()[0]: re.findall(r"(?<=\s)(?:[\d.]+|-)(?=\s|$)", line[10:]) for line in table}


@pytest.mark.parametrize("name", MACHINES)
def test_ten_lines_have_the_figures_of_the_file(name):
    machine, shown = load(name), tessera("machine --machine", name).ok(f"{name}, from a file$").out
    count, table = len(machine["devices"]), rows(shown)
    assert len(shown.splitlines()) <= 15
    assert f"{count} x {machine['devices'][0]['name']}" in shown
    assert {1: "\nGPU 0 ", 2: "\nGPU 0, 1 "}.get(count, f"\nGPU 0-{count - 1} ") in shown
    peers = link(machine, "gpu1", "gpu0") if count > 1 else None
    links = [link(machine, "host0", "gpu0"), link(machine, "gpu0", "host0"), peers,
             machine["devices"][0]["memory_rate"]]
    rates = [machine["rates"][letter]["sustained"] for letter in TYPES.values()]
    for cell, value in zip(table["GPU"], [x and x / 1e9 for x in links] + [x / 1e12 for x in rates]):
        assert cell == "-" if value is None else near(float(cell), value)
    for cell, value in zip(table["together"][2:] if count > 1 else [], rates):
        assert near(float(cell), count * value / 1e12)
    for cell, letter in zip(table["CPU"], TYPES.values()):
        assert near(float(cell), machine["cpu"]["flops"][letter] / 1e12)
    memory = sum(c["capacity"] for c in machine["channels"] if re.fullmatch(r"host\d memory", c["name"]))
    assert float(table["together" if count > 1 else "GPU"][0]) <= memory / 1e9 * 1.005
    assert f"{machine['staging']['threads']} threads" in shown


@pytest.mark.parametrize("details", ["", "--details"])
@pytest.mark.parametrize("source", MACHINES + STRINGS)
def test_80_columns(source, details):
    shown = tessera(f"machine {details}", "--machine", source).ok().quiet().out
    assert max(map(len, shown.splitlines())) <= 80


def test_details_have_every_link_and_channel():
    shown = tessera("machine --details --machine a100x8").ok(r"^gpu7 +NVIDIA A100 40 GB").out
    for use in ["gpu6>gpu7", "gpu7>host0", "host0>gpu0"]:
        assert use in shown
    assert shown.count("\npcie") == 8
    many = tessera("machine --details --machine 'gpu*32@nvlink:5'").ok().out
    assert many.count("links, GB/s") == 5  # 33 columns, eight a table
    assert len(re.findall(r"^gpu31 ", many, re.MULTILINE)) == 5 + 1


def test_rates_of_close_segments():
    machine = load("h200x4")
    for one in machine["links"]:
        one.pop("close", None)
    without = json.dumps(machine)
    shown = tessera("machine --details", "--machine", without).ok(r"^bytes of a segment: GB/s").out
    assert "apart or closer" not in shown
    for one in machine["links"]:
        if "shape" in one:
            one["close"] = {"pitch": 32768, "shape": [[4096, 3.9e10], [16384, 5.35e10]]}
    shown = tessera("machine --details", "--machine", json.dumps(machine)).ok().out
    close = "\nthe same if segments begin 32768 bytes apart or closer\n 4096: 39, 16384: 53.5\n"
    assert shown.count(close) == shown.count("bytes of a segment: GB/s") > 0
    again = tessera("machine --json", "--machine", json.dumps(machine)).ok().json()
    assert again["links"] == machine["links"]
    before, after = (tessera("plan trsm s 8192 8192 --devices 1 --json --machine", m).ok().json()
                     for m in (without, json.dumps(machine)))
    assert after["predicted_s"] < before["predicted_s"]


def test_sharing_is_said():
    tessera("machine --machine a100x8").ok(
        r"^GPUs 0\+1, 2\+3, 4\+5, 6\+7 share a host link: 24 GB/s each way\.$",
        r"through a switch, each at 300 GB/s each way\.$")
    tessera("machine --machine 'gpu*3@nvlink:50 net:12.5'").ok(
        r"^Each pair of GPUs has a link of its own: 50 GB/s each way\.$", r"^Network: 12\.5 GB/s")
    tessera("machine --machine frontier-node").ok(
        r"^Some pairs of GPUs have a link of their own: 37\.5 to 150 GB/s each way\.$")
    tessera("machine --machine gpu*2").ok(r"through host memory only")
    tessera("machine --machine 'gpu*4@pcie unlinked:0-2,1-3'").ok(
        r"^GPUs reach each other over their links to the host: 25 GB/s", r"^Without a direct link: GPUs 0-2, 1-3\.$")
    tessera("machine --machine gpu*2@nvlink:50", env={"TESSERA_PEER": "0"}).ok(r"through host memory only")
    tessera("machine --machine 'gpu*2@pcie'").ok(r"over their links to the host: 25 GB/s")


def test_without_a_gpu():
    shown = tessera("machine --engine cpu").ok(r"^the CPU alone, .*measured \d{4}-\d\d-\d\d$",
                                               r"^CPU +[\d.]+ ", "--probe").out
    assert "GPU " not in shown and "TFLOP/s, sustained" not in shown


def test_names(tmp_path):
    listed = tessera("machine --list").ok().out.splitlines()
    assert [line.split()[0] for line in listed if not line.startswith(" ")] == MACHINES
    assert any(re.match(r"h200x4 +4 x NVIDIA H200 \(141 GB\)$", line) for line in listed)
    assert tessera("machine --json --machine h200x4").json() == load("h200x4")
    tessera("machine --json", env={"TESSERA_MACHINE": "h200x8"}).ok('"name": "h200x8"')
    tessera("plan gemm d 4096 4096 4096 --machine v100x3-summit --json").ok('"machine": "v100x3-summit"')
    tessera("machine --machine xyzzy").refused("xyzzy", *MACHINES, "path of a machine file", code=1)
    # A file of the working folder goes before an installed machine.
    (tmp_path / "h200x4").write_text(json.dumps({**load("v100x3-summit"), "name": "mine"}), "utf-8")
    assert tessera("machine --json --machine h200x4", cwd=tmp_path).json()["name"] == "mine"


def test_the_computer_is_named(tmp_path):
    facts = {"cpu": "Some CPU", "sockets": 2, "cores": 64, "memory": 512e9}
    path = tmp_path / "m.json"
    path.write_text(json.dumps({**load("h200x4"), "host": facts, "measured": "2026-11-23"}), "utf-8")
    tessera("machine --machine", path).ok(r"^4 x NVIDIA H200 \(141 GB\), 2 sockets, 64 cores, 512 GB",
                                          "measured 2026-11-23$")
    again = tessera("machine --json --machine", path).json()
    assert again["host"] == facts and again["measured"] == "2026-11-23"
    path.write_text(json.dumps({**load("h200x4"), "host": {"core": 3}}), "utf-8")
    tessera("machine --machine", path).refused(r"host\.core: expected no field", code=1)


# ---- The picture ----

SVG = "{http://www.w3.org/2000/svg}"
# The greatest number of letters of a line is judged by this width of a letter, in parts of its size.
LETTER = 0.5


def draw(words, *more):
    tessera(words, *more).ok().quiet()
    return parse("picture.svg")


def parse(path):
    """The picture's root, and its parts: id -> title."""
    root = ElementTree.parse(path).getroot()
    parts = [(g.get("id"), g.find(f"{SVG}title").text) for g in root.iter(f"{SVG}g")]
    assert len(dict(parts)) == len(parts), "a part is drawn twice"
    return root, dict(parts)


def texts(root):
    return [(e.text, float(e.get("x")), float(e.get("y")), e.get("class")) for e in root.iter(f"{SVG}text")]


def is_on_the_page(root):
    width, height = float(root.get("width")), float(root.get("height"))
    for text, x, y, kind in texts(root):
        size = 16 if "l" in kind.split() else 10.5 if "s" in kind.split() else 12
        length = LETTER * size * len(text)
        left = x - (length if "e" in kind.split() else length / 2 if "m" in kind.split() else 0)
        assert 0 <= left and left + length <= width and size <= y <= height - 4, (text, x, y)
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height


def json_of(source):
    return tessera("machine --json", "--machine", source).json()


@pytest.mark.slow
@pytest.mark.parametrize("source", MACHINES + STRINGS + [
    "host*2:200 interleaved gpu*16@nvswitch:300 pcie:25/pair", "gpu*2 pcie:9/all", "gpu*7@nvlink:50"])
def test_picture_has_every_part(source):
    root, parts = draw("machine --svg picture.svg", "--machine", source)
    is_on_the_page(root)
    machine = json_of(source)
    for i, device in enumerate(machine["devices"]):
        assert parts[f"gpu{i}"] == f"GPU {i}: {device['name']}"
    for i in range(machine["nodes"]):
        assert f"host{i}" in parts
    switched = any(channel["name"] == "gpu0 to others" for channel in machine["channels"])
    over_host = "@pcie" in source
    for one in machine["links"]:
        title = f"{one['from']} to {one['to']}: "
        mine = f"{one['from']}-{one['to']}"
        back = f"{one['to']}-{one['from']}"
        if mine.count("host") == 2:  # the channel between the sockets is drawn
            continue
        if "host" in mine:  # the way back of another node's link is on the same line
            assert mine in parts or back in parts and not one["to"].startswith("gpu")
        elif not switched and not over_host:
            assert mine in parts or back in parts
        if mine in parts:
            assert parts[mine].startswith(title) and parts[mine].endswith(" GB/s")
            assert near(float(parts[mine][len(title):-5]), one["bandwidth"] / 1e9)
    for i, channel in enumerate(machine["channels"]):
        own = channel["name"].startswith("pcie") and f"channel-{i}" not in parts  # the arrow is it
        if not own:
            assert parts[f"channel-{i}"].startswith(f"{channel['name']}: ")


def colours(root):
    """The class of each part's first shape that has one."""
    return {g.get("id"): next(word for e in g if e.tag != f"{SVG}text" and e.tag != f"{SVG}title"
                              and e.tag != f"{SVG}g" for word in e.get("class").split()
                              if re.fullmatch(r"[pq]\d", word))
            for g in root.iter(f"{SVG}g") if len(g) > 2 and g[1].tag in (f"{SVG}rect", f"{SVG}path")}


def step(busy):
    percent = round(100 * busy)
    return sum(percent > limit for limit in (0, 25, 50, 75, 90))


@pytest.mark.parametrize("source", ["h200x4", "a100x8", "v100x3-summit"])
def test_colours_follow_the_plan(source):
    call = "gemm d 12000 12000 12000 --machine " + source
    plan = tessera(f"plan {call} --json").json()
    root, parts = draw(f"plan {call} --machine-svg picture.svg")
    is_on_the_page(root)
    shown = {name: float(re.search(r", (\d+) % busy$", title)[1])
             for name, title in parts.items() if title.endswith("busy")}
    machine, colour = load(source), colours(root)
    busiest = max(one["busy"] for one in plan["verdict"]["busy"])
    assert max(shown.values()) == pytest.approx(100 * busiest, abs=1)
    for i, channel in enumerate(plan["channels"]):
        assert channel["name"] == machine["channels"][i]["name"]
        assert shown[f"channel-{i}"] == pytest.approx(100 * channel["busy"], abs=0.51)
    moved = [name for name, share in shown.items() if re.fullmatch(r"host0-gpu\d", name) and share > 1]
    assert len(moved) == plan["devices"]
    for name, drawn in colour.items():
        if name in shown and not name.startswith("host"):
            assert drawn == f"q{step(shown[name] / 100)}"
    assert any(text and text.startswith("dgemm") and "TFLOP/s" in text for text, *_ in texts(root))
    assert [text for text, *_ in texts(root)][-7:-1] == ["idle", "up to 25 %", "up to 50 %",
                                                        "up to 75 %", "up to 90 %", "more"]


def test_picture_is_deterministic_and_escaped(tmp_path):
    path = tmp_path / "m.json"
    machine = load("h200x4")
    machine["name"] = "<&\"'> \u00e9" + 20 * "\u00fc"
    machine["devices"][0]["name"] = "A & <B> " + 18 * "\u4e00"
    path.write_text(json.dumps(machine), "utf-8")
    root, parts = draw("machine --svg picture.svg", "--machine", path)
    assert parts["gpu0"] == "GPU 0: " + machine["devices"][0]["name"]
    assert any(text.startswith(machine["name"]) for text, *_ in texts(root))
    tessera("machine --svg again.svg", "--machine", path).ok()
    with open("picture.svg", "rb") as one, open("again.svg", "rb") as other:
        assert one.read() == other.read()


def test_picture_is_an_output_like_others():
    tessera("machine --svg picture.svg --machine gpu*2").ok()
    tessera("machine --svg picture.svg --machine gpu*2").refused("--force", code=1)
    tessera("machine --svg picture.svg --machine gpu*2 --force").ok()
    tessera("machine --svg nodir/m.svg --machine gpu*2").refused("nodir", code=1)
    tessera("plan gemm d 512 512 512 --machine gpu*2 --machine-svg nodir/m.svg").refused("nodir", code=1)
    root, parts = parse("picture.svg")
    assert "gpu1" in parts and root.tag == f"{SVG}svg"


def test_picture_without_a_gpu():
    root, parts = draw("machine --svg picture.svg --machine", "host:100 cpu:500")
    assert list(parts) == ["host0"]
    root, _ = draw("plan gemm d 64 64 64 --force --machine-svg picture.svg --machine", "host:100 cpu:500")
    assert any("by the CPU's BLAS" in text for text, *_ in texts(root))


def test_refusals():
    tessera("machine --probe --machine gpu*2").refused("choose one")
    tessera("machine --json --details").refused("does nothing with --json")


@pytest.mark.parametrize("string, carets", [
    ("gpu*4 pcie:25/pairs rate:7", "              ^^^^^"),
    ("gpu*2 speed:1,1,1 hbm:9", "      ^^^^^^^^^^^"),
    ("gpu*4 bogus lat:3", "      ^^^^^"),
    ("gpu*4:16 rate:7 mem:16", "                ^^^^^^"),
    ("gpu*4 unlinked:0-1,2-7 rate:3", "                     ^"),
    ("gpu*4@", "      ^"),
    ("gpu*4@nvswitch:9 linked:0-1*2", "                 ^^^^^^^^^^^^"),
])
def test_carets_are_under_the_wrong_word(string, carets):
    said = tessera("machine", "--machine", string).refused(code=1).err.splitlines()
    assert said[-2:] == ["  " + string, "  " + carets]


def test_pairs_have_links_by_count_or_rate():
    """Half of a DGX-1: two GPUs have two links, others one or none."""
    shown = tessera("machine --details --machine 'gpu*4@nvlink:24 linked:0-1,0-3*2,1-2=60'").ok().out
    assert re.search(r"^gpu0 +- +24 +- +48 ", shown, re.MULTILINE)
    assert re.search(r"^gpu2 +- +60 +- +- ", shown, re.MULTILINE)


@pytest.mark.parametrize("name, meant", [("mi300x", "mi300x8"), ("H200", "h200x"), ("h200x3", "h200x"), ("4090", "rtx4090x1"),
                                         ("sumit-node", "summit-node")])
def test_misspelt_names(name, meant):
    tessera("machine --machine", name).refused(f"did you mean {meant}", code=1)


def test_the_list_says_what_tells_machines_apart_and_where_figures_come_from():
    shown = tessera("machine --list").ok().out
    entries = {entry.split()[0]: " ".join(entry.split()) for entry in re.split(r"\n(?=\S)", shown.strip())}
    assert sorted(entries) == MACHINES
    for name, entry in entries.items():
        machine = load(name)
        assert machine["about"] in entry and machine["origins"]["kernels"] + ": " in entry
        for figure in ("kernels", "links", "memory", "staging", "cpu"):
            assert machine["origins"][figure] in entry, (name, figure)
    eights = [entries[name].split(") ", 1)[1] for name in ("h200x8", "h200x8-narrow", "h200x8-sockets")]
    assert len({each.partition(" measured: ")[0] for each in eights}) == 3
    assert "extrapolated: kernels of c, z, b, host memory" in eights[0]
    assert eights[0].split("measured: ")[1] in tessera("machine --details --machine h200x8").ok().out.replace("\n", " ")


@pytest.mark.parametrize("origin", ["guessed", "", 3])
def test_origins_are_words(tmp_path, origin):
    machine = load("h200x1")
    machine["origins"]["cpu"] = origin
    (tmp_path / "m.json").write_text(json.dumps(machine))
    tessera("machine --machine m.json").refused("origins.cpu: expected measured, ", code=1)
