# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Every argument of every public function with odd values: it is taken, or refused by us, by its name. Nothing
comes from another layer (NumPy, cffi, ctypes), which does not know our names."""
import inspect
import traceback
from types import SimpleNamespace

import pytest

from support import imported

np = imported("numpy")


def matrix(*shape):
    return np.ones(shape or (4, 4))


class Exported:
    """An array of a library that has DLPack alone."""

    def __init__(self, values, device=(1, 0), capsule=None):
        self.values, self.device, self.capsule = values, device, capsule

    def __dlpack__(self, **_):
        return self.values.__dlpack__() if self.capsule is None else self.capsule

    def __dlpack_device__(self):
        return self.device


class Failing(Exported):
    def __dlpack__(self, **_):
        raise RuntimeError("it needs a gradient")


def read_only():
    values = matrix()
    values.flags.writeable = False
    return values


def cuda_array(**changes):
    told = {"version": 3, "shape": (4, 4), "typestr": "<f8", "data": (4096, False), **changes}
    return SimpleNamespace(__cuda_array_interface__=told)


NUL = "emulated\0x"
# Makers, since calls may write to arrays.
TEXTS = [lambda: NUL, lambda: "\0", lambda: "", lambda: "nothing such", lambda: "\udc80", lambda: b"cpu",
         lambda: "x" * 10000]
NUMBERS = [lambda: -1, lambda: 0, lambda: 2**31, lambda: 2**63, lambda: -2**70, lambda: 1.5, lambda: float("nan"),
           lambda: True, lambda: np.float32(2), lambda: 10**400, lambda: 1j]
THINGS = [lambda: None, object, lambda: [], lambda: {}, lambda: (), lambda: [None], lambda: [1.5, "a"], lambda: (0,),
          lambda: (-3, 4), lambda: {"a": 1}, lambda: int, lambda: len]
ARRAYS = [matrix, lambda: matrix(4), lambda: matrix(0, 4), lambda: matrix(4, 4, 4)[::-1], lambda: matrix()[::-1],
          lambda: matrix()[:, ::-1], lambda: matrix(8, 8)[::-2, ::2], lambda: np.broadcast_to(1.0, (4, 4)),
          lambda: np.lib.stride_tricks.as_strided(matrix(), (4, 4), (0, 8)),
          lambda: np.lib.stride_tricks.as_strided(matrix(), (4, 4), (0, 0)), read_only,
          lambda: matrix().astype(">f8"), lambda: matrix().astype("i8"), lambda: matrix().astype(object),
          lambda: np.frombuffer(b"\0" * 129, "f8", 16, 1).reshape(4, 4), lambda: np.ma.ones((4, 4)),
          lambda: Exported(matrix()), lambda: Exported(matrix()[::-1]), lambda: Exported(matrix()[::-1, ::-1]),
          lambda: Exported(matrix(8, 8)[::2, ::-2]), lambda: Exported(matrix(4, 4, 4)), lambda: Exported(matrix(0, 4)),
          lambda: Exported(np.lib.stride_tricks.as_strided(matrix(), (4, 4), (0, 8))),
          lambda: Exported(matrix(), device=None), lambda: Exported(matrix(), device=("a", 1)),
          lambda: Exported(matrix(), device=(99, 0)), lambda: Exported(matrix(), device=(2, 7)),
          lambda: Exported(matrix(), capsule="no capsule"), lambda: Failing(matrix()),
          lambda: cuda_array(shape=None), lambda: cuda_array(data=None), lambda: cuda_array(typestr=7),
          lambda: cuda_array(shape=(-1, 4)), lambda: cuda_array(strides=("a", 8)), lambda: cuda_array(data=(0, False)),
          lambda: SimpleNamespace(__cuda_array_interface__=None)]
ODD = TEXTS + NUMBERS + THINGS + ARRAYS

ROUTINES = ("matmul", "gemm", "gemmt", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm")


def arguments_of(function):
    """The names of a function's arguments, without *arrays and **arguments."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, each in inspect.signature(function).parameters.items()
            if each.kind in kinds and name != "self"]


def good(name, routine=None):
    """A value that is right for an argument."""
    if name in ("a", "b"):
        kind = "c16" if routine in ("hemm", "herk", "her2k") else "f8"
        return np.eye(4, dtype=kind)
    return {"shape": (4, 4), "values": matrix(), "array": matrix(), "to": matrix(), "block": 2, "file": "t.svg",
            "routine": "gemm", "context": None, "arithmetic": None, "device": 0, "stream": None}.get(name)


def sweep(call, names, given, tessera):
    """Calls with each odd value of each argument. Returns how many were refused."""
    refused = 0
    for name in names:
        for make in ODD:
            value = make()
            try:
                call(**{**given(), name: value})
            except (TypeError, ValueError, MemoryError, tessera.Error) as error:
                shown = "".join(traceback.format_exception(type(error), error, error.__traceback__))
                where = f"{name} = {value!r:.80}: {shown}"
                assert isinstance(error, (tessera.Error, TypeError)), where
                assert "/tessera/" in traceback.extract_tb(error.__traceback__)[-1].filename, where
                assert isinstance(error, (tessera.EngineError, tessera.MachineError)) or name in str(error) or (
                    name in ("out", "c", "b") and "a " in str(error)) or (name == "block" and "grid" in str(error)), where
                refused += 1
            except OSError as error:  # a path that cannot be used: it is named
                assert name == "file" and error.filename, repr(value)
            else:
                assert not (isinstance(value, str) and "\0" in value), f"{name} = {value!r} is taken"
    return refused


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("routine, way", [(routine, "at once") for routine in ROUTINES] +
                         [(routine, way) for routine in ("gemm", "hemm", "herk", "trsm")
                          for way in ("submitted", "composed", "planned")])
def test_routines(context, tessera, routine, way):
    names = arguments_of(getattr(context, routine))

    def given():
        return {name: good(name, routine) for name in names if name in ("a", "b")}

    def call(**arguments):
        if way == "at once":
            getattr(context, routine)(**arguments)
        elif way == "submitted":
            context.submit(routine, **arguments).result()
        elif way == "planned":
            context.plan(routine, **arguments)
        else:
            with context.composed() as t:
                np.asarray(getattr(t, routine)(**arguments))

    assert sweep(call, names, given, tessera) > 5 * len(names)


def test_contexts(tessera):
    names = [name for name in arguments_of(tessera.Context) if name != "engine"]
    assert sweep(lambda **more: tessera.Context(**more).close(), ["engine"], dict, tessera) > 40
    assert sweep(lambda **more: tessera.Context(**{"engine": "host", "devices": 1, **more}).close(), names, dict,
                 tessera) > 100


def test_methods(context, tessera):
    names = ["dtype", "order", "device"]
    for function in (context.empty, context.zeros):
        assert sweep(function, names, lambda: {"shape": (4, 4)}, tessera) > 50
        sweep(function, names, lambda: {"shape": (4, 4), "device": 0}, tessera)
    # On a device, whose budget refuses what host memory would take seconds to give.
    assert sweep(context.empty, ["shape"], lambda: {"device": 0}, tessera) > 30
    assert sweep(context.set_arithmetic, ["arithmetic"], dict, tessera) > 40
    assert sweep(context.set_stream, ["device", "stream"], lambda: {"device": 0, "stream": None}, tessera) > 40
    context.set_stream(0, None)
    assert sweep(lambda routine: context.submit(routine, matrix(), matrix()), ["routine"], dict, tessera) > 40
    assert sweep(lambda **more: context.plan(**{"routine": "gemm", "a": (4, 4), "b": (4, 4), **more}),
                 ["routine", "dtype", "homes", "arithmetic"], dict, tessera) > 100

    def pin(array):
        with context.pinned(array):
            pass

    def draw(file):
        with context.timeline(file):
            pass
    assert sweep(pin, ["array"], dict, tessera) > 30
    assert sweep(draw, ["file"], dict, tessera) > 20
    assert sweep(context.plan("gemm", (4, 4), (4, 4)).save, ["file"], dict, tessera) > 30
    assert sweep(context.empty((4, 4), device=0).set, ["values"], dict, tessera) > 20


def test_module(tessera):
    with tessera.Context(engine="cpu") as mine:
        tessera.set_default_context(mine)
        try:
            assert sweep(tessera.set_default_context, ["context"], dict, tessera) > 40
            tessera.set_default_context(mine)
            for name in ("matmul", "trsm"):
                assert sweep(getattr(tessera, name), ["a", "b"], lambda: {"a": matrix(), "b": matrix()}, tessera) > 40
        finally:
            tessera.set_default_context(None)


def test_compositions(context, tessera):
    with context.composed() as t:
        assert sweep(t.changed, ["array"], dict, tessera) > 30
        assert sweep(t.discard, ["result"], dict, tessera) > 30
        assert sweep(t.map, ["array", "block"], lambda: {"array": matrix(), "block": 2}, tessera) > 60
        assert sweep(t.map, ["grid", "move"], lambda: {"array": matrix(), "block": (2, 2), "grid": (1, 2)},
                     tessera) > 60
        a = matrix()
        with t.capture() as steps:
            t.gemm(a, a)
        assert sweep(steps.move, ["array", "to"], lambda: {"array": a, "to": matrix()}, tessera) > 60


def test_exporters_with_negative_strides(context):
    """They are right where they are taken, as NumPy's own arrays are."""
    values = np.random.default_rng(1).random((6, 6))
    for turned in (values[::-1], values[:, ::-1], values[::-2, ::-1], values.T[::-1]):
        wanted = turned @ values[:turned.shape[1]]
        assert np.allclose(context.matmul(Exported(turned), values[:turned.shape[1]], copy=True), wanted)
        assert np.allclose(context.gemm(values[:2].T, values[:2], c=Exported(values[::-1])),
                           values[:2].T @ values[:2] + values[::-1])
