"""tessera machine: ten lines, tables, names, a picture."""
import json
import re

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
    assert len(shown.splitlines()) <= 14
    assert f"{count} x {machine['devices'][0]['name']}" in shown
    assert f"\nGPU 0-{count - 1} " in shown
    links = [link(machine, "host0", "gpu0"), link(machine, "gpu0", "host0"),
             link(machine, "gpu1", "gpu0"), machine["devices"][0]["memory_rate"]]
    rates = [machine["rates"][letter]["sustained"] for letter in TYPES.values()]
    for cell, value in zip(table["GPU"], [x / 1e9 for x in links] + [x / 1e12 for x in rates]):
        assert near(float(cell), value)
    for cell, value in zip(table["together"][2:], rates):
        assert near(float(cell), count * value / 1e12)
    for cell, letter in zip(table["CPU"], TYPES.values()):
        assert near(float(cell), machine["cpu"]["flops"][letter] / 1e12)
    memory = next(c for c in machine["channels"] if c["name"] == "host0 memory")
    assert float(table["together"][0]) <= memory["capacity"] / 1e9 * 1.005
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


def test_sharing_is_said():
    tessera("machine --machine a100x8").ok(
        r"^GPUs 0\+1, 2\+3, 4\+5, 6\+7 share a link to the host: 24 GB/s each way\.$",
        r"through a switch, each at 300 GB/s each way\.$")
    tessera("machine --machine 'gpu*3@nvlink:50 net:12.5'").ok(
        r"^Each pair of GPUs has a link of its own: 50 GB/s each way\.$", r"^Network: 12\.5 GB/s")
    tessera("machine --machine gpu*2").ok(r"through host memory only")
    tessera("machine --machine 'gpu*2@pcie'").ok(r"over their links to the host: 25 GB/s")


def test_without_a_gpu():
    shown = tessera("machine --engine cpu").ok(r"^the CPU alone, .*measured \d{4}-\d\d-\d\d$",
                                               r"^CPU +[\d.]+ ", "--probe").out
    assert "GPU " not in shown and "TFLOP/s, sustained" not in shown


def test_names(tmp_path):
    listed = tessera("machine --list").ok().out.splitlines()
    assert [line.split()[0] for line in listed] == MACHINES
    assert any(re.match(r"h200x4 +4 x NVIDIA H200 \(141 GB\)$", line) for line in listed)
    assert tessera("machine --json --machine h200x4").json() == load("h200x4")
    tessera("machine --json", env={"TESSERA_MACHINE": "h200x8"}).ok('"name": "h200x8"')
    tessera("plan gemm d 4096 4096 4096 --machine v100x3-summit").ok("v100x3-summit")
    tessera("machine --machine h200x5").refused("h200x5", *MACHINES, "path of a machine file", code=1)
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


def test_refusals():
    tessera("machine --probe --machine gpu*2").refused("choose one")
    tessera("machine --json --details").refused("choose one")
