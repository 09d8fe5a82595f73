# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Plans: the verdict's attributes, pictures, shapes in the place of arrays, where matrices are."""
import json
import re

import pytest

from support import imported

np = imported("numpy")


@pytest.fixture
def h200(tessera):
    """A machine that is not here: plans alone."""
    with tessera.Context(machine="h200x4", engine="cpu") as made:
        yield made


def test_attributes(h200, tessera):
    plan = h200.plan("gemm", (16384, 16384), (16384, 16384), homes="pinned")
    assert 0 < plan.floor <= plan.seconds < 1
    assert plan.rate == pytest.approx(2 * 16384 ** 3 / plan.seconds, rel=1e-6)
    assert plan.most == pytest.approx(2 * 16384 ** 3 / plan.floor, rel=1e-6)
    assert plan.devices == [0, 1, 2, 3] and plan.measured is None
    assert plan.limit.busy == plan.busy[0].busy and 0.5 < plan.limit.busy <= 1
    assert plan.busy[0].busy == max(each.busy for each in plan.busy)
    assert plan.limit.kind in ("channel", "link", "memory", "kernels", "latency", "cpu")
    assert plan.json["verdict"]["text"] == plan.verdict
    assert plan.instead == sorted(plan.instead, key=lambda each: each.seconds)
    assert all(each.seconds < plan.seconds for each in plan.instead)
    assert repr(plan).split() == plan.verdict.split() and "Bound by" in plan.verdict
    assert "16384" in plan.text


def test_estimates(h200, tessera):
    """Which figures nobody has measured; the sentences have the same clause."""
    assert h200.plan("gemm", (4096, 4096), (4096, 4096), homes="pinned").estimate is None
    with tessera.Context(machine="h200x8", engine="cpu") as eight:
        plan = eight.plan("gemm", (16384, 16384), (16384, 16384), homes="pinned")
    assert plan.estimate.startswith("an estimate (extrapolated: host memory")
    assert ", " + plan.estimate in plan.verdict


def test_what_binds(h200):
    """A small product of matrices in host memory waits for links; one on a GPU for kernels."""
    assert h200.plan("gemm", (4096, 4096), (4096, 4096), homes="pinned").limit.kind in ("channel", "link")
    assert h200.plan("gemm", (16384, 16384), (16384, 16384), homes=0).limit.kind != "cpu"


def test_pictures(h200, tessera, tmp_path):
    plan = h200.plan("gemm", (4096, 4096), (4096, 4096))
    assert plan._repr_svg_().lstrip().startswith("<svg")
    plan.save(tmp_path / "t.svg")
    assert (tmp_path / "t.svg").read_text() == plan._repr_svg_()
    plan.save(str(tmp_path / "t.json"))
    assert json.loads((tmp_path / "t.json").read_text())
    with pytest.raises(tessera.ArgumentError, match=r"file is 't.png'; give a name that ends with .svg"):
        plan.save("t.png")


def test_arrays_and_shapes_alike(context):
    a, b = context.empty((300, 200), "f4"), context.empty((200, 100), "f4")
    by_arrays = context.plan("gemm", a, b, c=context.empty((300, 100), "f4"), beta=1)
    by_shapes = context.plan("gemm", (300, 200), (200, 100), dtype="f4", homes="pinned", c=(300, 100))
    one, other = by_arrays.json, by_shapes.json
    for key in ("call", "m", "n", "k", "bytes"):
        assert one[key] == other[key], key
    assert by_arrays.seconds == by_shapes.seconds


@pytest.mark.parametrize("routine, operands, shape", [
    ("matmul", [(30, 20), (20, 10)], "gemm"), ("gemmt", [(30, 20), (20, 30)], "gemmt"),
    ("symm", [(30, 30), (30, 10)], "symm"), ("syrk", [(30, 20)], "syrk"),
    ("syr2k", [(30, 20), (30, 20)], "syr2k"), ("trmm", [(30, 30), (30, 10)], "trmm"),
    ("trsm", [(30, 30), (30, 10)], "trsm")])
def test_every_routine(context, routine, operands, shape):
    assert shape in context.plan(routine, *operands).json["call"]
    arrays = [np.zeros(extents) for extents in operands]
    assert shape in context.plan(routine, *arrays).json["call"]


@pytest.mark.parametrize("routine, operands", [
    ("hemm", [(30, 30), (30, 10)]), ("herk", [(30, 20)]), ("her2k", [(30, 20), (30, 20)])])
def test_complex_routines(context, routine, operands):
    assert context.plan(routine, *operands, dtype="c8").json["call"].startswith("c" + routine)


def test_homes(context, tessera):
    def moved(**homes):
        return sum(context.plan("gemm", (400, 400), (400, 400), **homes).json["bytes"].values())

    assert moved(homes=0) < moved(homes="pinned")
    x = context.empty((400, 400), device=0)
    assert sum(context.plan("gemm", x, x).json["bytes"].values()) == 0 or \
        sum(context.plan("gemm", x, x).json["bytes"].values()) <= moved(homes=0)
    with pytest.raises(tessera.ArgumentError):
        context.plan("gemm", (4, 4), (4, 4), homes=17)


def test_the_last_plan(tessera):
    with tessera.Context(engine="host", devices=2, trace=True) as context:
        with pytest.raises(tessera.ArgumentError, match="no planned call"):
            context.last_plan()
        a = np.ones((600, 600))
        context.matmul(a, a)
        plan = context.last_plan()
        assert plan.json["m"] == 600 and plan.measured > 0
        assert re.search("measured", plan._repr_svg_())
    assert plan.seconds > 0  # a plan outlives its context


def test_numbers_of_numpy(context):
    """NumPy's integers are as good as Python's."""
    shape, device = tuple(np.array([300, 300])), np.int64(0)
    same = context.plan("gemm", (300, 300), (300, 300), homes=0)
    assert context.plan("gemm", shape, shape, homes=device).seconds == same.seconds
    assert context.plan("gemm", shape, shape, homes=[device] * 3).seconds == same.seconds


def test_timelines(context, tessera, tmp_path):
    a = np.ones((200, 200))
    with context.timeline(tmp_path / "t.json"):
        context.matmul(a, a)
    assert "gemm" in json.dumps(json.loads((tmp_path / "t.json").read_text()))
    with pytest.raises(FileNotFoundError):
        with context.timeline(tmp_path / "nowhere/t.json"):
            raise AssertionError("the path is found out before the work")


def test_timelines_of_what_fails(context, tmp_path):
    """A timeline that an exception ends is written, and the next one can begin."""
    a = np.ones((200, 200))
    with pytest.raises(ZeroDivisionError):
        with context.timeline(tmp_path / "t.json"):
            context.matmul(a, a)
            raise ZeroDivisionError
    assert "gemm" in (tmp_path / "t.json").read_text()
    with context.timeline(tmp_path / "t.json"):
        context.syrk(a)
    assert "syrk" in json.dumps(json.loads((tmp_path / "t.json").read_text()))


def test_machines(context, tessera):
    assert json.loads(context.machine)["tessera_machine"] == 1
    with pytest.raises(tessera.MachineError, match="h200x4"):
        tessera.Context(machine="h200x3")
