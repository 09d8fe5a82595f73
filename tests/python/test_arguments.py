# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What is refused: the message names the argument, its value and the remedy, and nothing is touched."""
import re
from functools import partial

import pytest

from support import imported

np = imported("numpy")


def eye(n=4, dtype="f8"):
    return np.eye(n, dtype=dtype)


CASES = [
    (lambda t: t.gemm(np.ones((2, 3, 3)), eye()), r"a has 3 dimensions, \(2, 3, 3\); .* matmul .* takes stacks"),
    (lambda t: t.gemm(eye(), np.ones(4)), r"b has 1 dimensions, \(4,\); .*b\[:, None\] is a column"),
    (lambda t: t.plan("matmul", np.ones((2, 3, 3)), eye()), "a has 3 dimensions"),
    (lambda t: t.matmul(np.ones((2, 3, 3)), eye()), "a has 3 columns, but b has 4 rows"),
    (lambda t: t.matmul(np.ones(3), np.ones(4)), "a has 3 elements, but b has 4 elements"),
    (lambda t: t.matmul(np.ones((2, 4, 4)), np.ones((3, 4, 4))), r"a is a stack of \(2,\) matrices, and b one of \(3,\)"),
    (lambda t: t.matmul(np.ones(4), eye(), transa="T"), "transa is 'T', but a is a vector; leave transa out"),
    (lambda t: t.matmul(np.ones((2, 4, 4)), np.float64(2)), r"b has 0 dimensions"),
    (lambda t: t.matmul(np.ones((2, 4, 4)), eye(), eye()), r"out is \(4, 4\), but the result is \(2, 4, 4\)"),
    (lambda t: t.matmul(np.ones((2, 4, 4)), eye(), c=eye()), r"c is \(4, 4\), but the result is \(2, 4, 4\)"),
    (lambda t: t.matmul(np.ones((2, 4, 4)), eye(), beta=2), "beta is 2, but there is nothing to multiply"),
    (lambda t: t.matmul(np.ones((2, 4, 4), "i4"), eye()), "a.dtype is int32"),
    (lambda t: t.matmul(np.ones((2, 4, 4), "f4"), eye()), "b has the type float64, but a has float32"),
    (lambda t: t.matmul(eye(), np.float64(2)), "b is a float64"),
    (lambda t: t.matmul(eye(3), eye(4)), "a has 3 columns, but b has 4 rows; give"),
    (lambda t: t.matmul(np.ones((2, 3)), np.ones((2, 3)), transa="T", transb="T"),
     r"op\(a\) has 2 columns, but op\(b\) has 3 rows"),
    (lambda t: t.matmul(eye(), eye(), eye(5)), "out is 5 x 5, but the result is 4 x 4"),
    (lambda t: t.matmul(eye(), eye(), c=np.ones((1, 4))), "c is 1 x 4, but the result is 4 x 4"),
    (lambda t: t.matmul(eye(), eye(dtype="f4")), r"b has the type float32, but a has float64: no type is converted; give "
     r"b.astype\('float64'\) or a.astype\('float32'\)"),
    (lambda t: t.matmul(eye(), eye(), eye(dtype="f4")), "out has the type float32"),
    (lambda t: t.matmul(eye(dtype="i4"), eye()), r"a.dtype is int32; give float32, float64.*: a.astype\('float64'\)"),
    (lambda t: t.matmul(eye(), eye(), eye(dtype=">f8")), "out cannot take the result: the bytes of its numbers are in"),
    (lambda t: t.matmul(np.ma.ones((4, 4)), eye()), r"masked array; .* a.filled\(0\)"),
    (lambda t: t.matmul(eye(), eye(), beta=2), "beta is 2, but there is nothing to multiply by it"),
    (lambda t: t.matmul(eye(), eye(), alpha=1j), "alpha is 1j; give a real number"),
    (lambda t: t.matmul(eye(), eye(), alpha="x"), "alpha is 'x'; give a number"),
    (lambda t: t.herk(eye(dtype="c16"), alpha=1j), "alpha is 1j; give a real number"),
    (lambda t: t.herk(eye(dtype="c16"), trans="T"), "trans is 'T'; herk .* takes 'N' or 'C'"),
    (lambda t: t.syrk(eye(dtype="c16"), trans="C"), "trans is 'C'; syrk .* takes 'N' or 'T'"),
    (lambda t: t.matmul(eye(), eye(), transa="X"), "transa is 'X'; give 'N', 'T' or 'C'"),
    (lambda t: t.matmul(eye(), eye(), transb=True), "transb is True; give 'N', 'T' or 'C'"),
    (lambda t: t.trsm(eye(), eye(), side="top"), "side is 'top'; give 'left' or 'right'"),
    (lambda t: t.trsm(eye(), eye(), uplo=""), "uplo is ''; give 'lower' or 'upper'"),
    (lambda t: t.trsm(eye(), eye(), diag="one"), "diag is 'one'; give 'non-unit' or 'unit'"),
    (lambda t: t.trsm(np.ones((4, 3)), eye()), "a is 4 x 3; give a square matrix"),
    (lambda t: t.trsm(eye(3), eye()), "a has 3 rows, but b has 4 rows"),
    (lambda t: t.symm(eye(3), eye(), side="right"), "a has 3 rows, but b has 4 columns"),
    (lambda t: t.syr2k(np.ones((4, 2)), np.ones((4, 3))), "a is 4 x 2, but b is 4 x 3"),
    (lambda t: t.matmul(np.ones((2, 1)), eye()), "a has 1 column, but b has 4 rows"),
    (lambda t: t.syrk(eye(dtype="f2")), "a has the type float16, which gemm alone has; give float32 to syrk"),
    (lambda t: t.plan("trsm", eye(dtype="f2"), eye(dtype="f2")), "float16, which gemm alone has"),
    (lambda t: t.hemm(eye(), eye()), "a has the type float64, but hemm is for complex64 and complex128; call symm"),
    (lambda t: t.plan("herk", (4, 4), dtype="f4"), "a has the type float32, but herk is for .* call syrk"),
    (lambda t: t.plan("gemm", (4, 4), (4, 4), homes=9), "homes is 9, and the context has devices 0 to 1; give one"),
    (lambda t: t.empty((-1, 2)), r"shape is \(-1, 2\); give extents of 0 or more"),
    (lambda t: t.empty((2, 2), order="K"), "order is 'K'; give 'C'"),
    (lambda t: t.empty((2, 2), dtype=object), "dtype is object"),
    (lambda t: t.empty((2, 2), device=7), "device is 7, and the context has devices 0 to 1; give one of them"),
    (lambda t: t.empty((2, 2, 2), device=0), "a matrix: give two extents"),
    (lambda t: t.empty((2, 2), dtype="i4", device=0), "dtype is int32"),
    (lambda t: t.submit("gemv", eye(), eye()), "routine is 'gemv'; give matmul or one of gemm, gemmt"),
    (lambda t: t.plan("potrf", (4, 4)), "routine is 'potrf'"),
    (lambda t: t.plan("gemm", (4,), (4, 4)), r"a is \(4,\); give two extents"),
    (lambda t: t.plan("gemm", (4, 4), (4, 4), homes="disk"), "homes has 'disk' for a; give 'pageable'"),
    (lambda t: t.plan("gemm", (4, 4), (4, 4), homes=["pinned"]), "give one, or one for each"),
    (lambda t: t.set_stream(9, 1), "device"),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_refused(context, tessera, number):
    call, message = CASES[number]
    kind = TypeError if "is a float64" in message else tessera.ArgumentError
    with pytest.raises(kind, match=message) as told:
        call(context)
    if kind is tessera.ArgumentError:
        assert isinstance(told.value, ValueError)
        assert told.value.status == "TSR_ERR_ARGUMENT"


def test_shared_memory(context, tessera):
    """The message has our names, and the memory is compared element by element."""
    x = np.ones((8, 8))
    for call in (lambda: context.gemm(x, eye(8), x), lambda: context.gemm(eye(8), x, x.T),
                 lambda: context.gemm(x[:4], eye(8), x[2:6]), lambda: context.trsm(x, x, x)):
        with pytest.raises(tessera.ArgumentError, match="^out and [ab] share memory; give an array of its own"):
            call()
    assert (context.gemm(x[:, :4], eye(4), x[:, 4:]) == 1).all()


def test_big_endian(context, tessera):
    """Inputs are copied, as those with odd strides are; a result is never big-endian."""
    a, b = np.arange(16.0).reshape(4, 4), eye() + 1
    swapped = a.astype(">f8")
    with pytest.warns(tessera.CopyWarning, match=r"a is copied first .* the bytes of its numbers are in the other order.*"
                                                r"; give a\.astype\(a\.dtype\.newbyteorder\('='\)\) to avoid this"):
        made = context.matmul(swapped, b)
    assert (made == a @ b).all() and made.dtype == np.dtype("f8") and made.dtype.isnative
    assert (context.gemm(b, swapped.T, c=swapped, copy=True) == b @ a.T + a).all()
    assert (context.trsm(eye(), swapped, copy=True) == a).all()
    with pytest.raises(tessera.ArgumentError, match="a would have to be copied"):
        context.matmul(swapped, b, copy=False)
    with pytest.raises(tessera.ArgumentError, match=r"out cannot take the result: .*; give out\.astype\("):
        context.matmul(a, b, swapped)


def test_no_array(context):
    with pytest.raises(TypeError, match=r"a is a list; give an array of NumPy, CuPy, PyTorch"):
        context.matmul([[1.0]], eye(1))


def test_nothing_is_touched(context, tessera):
    """A call that is refused after all its matrices were seen leaves them as they are."""
    a, b, c = eye(), 2 * eye(), 3 * eye()
    for call in (lambda: context.matmul(a, b, a), lambda: context.matmul(a, b, a, c=c),
                 lambda: context.trsm(a, b, a), lambda: context.matmul(a, b, a[::-1]),
                 lambda: context.matmul(a, b, a.T, c=c, beta=2)):
        with pytest.raises(tessera.ArgumentError):
            call()
        assert (a == eye()).all() and (b == 2 * eye()).all() and (c == 3 * eye()).all()


def test_read_only(context, tessera):
    out = eye()
    out.flags.writeable = False
    with pytest.raises(tessera.ArgumentError, match="out cannot be written to: it is read-only"):
        context.matmul(eye(), eye(), out)
    inputs = eye()
    inputs.flags.writeable = False
    assert (context.matmul(inputs, inputs) == eye()).all()


def test_contexts(tessera):
    with pytest.raises(tessera.EngineError, match="name cuda, hip, host or cpu"):
        tessera.Context(engine="opencl")
    with pytest.raises(tessera.ArgumentError, match="devices is empty"):
        tessera.Context(devices=[])
    with pytest.raises(tessera.ArgumentError, match='devices is "two"'):
        tessera.Context(engine="host", devices="two")
    with pytest.raises(tessera.MachineError):
        tessera.Context(machine="host:nothing")
    with tessera.Context(engine="cpu") as context:
        assert context.devices == 0 and context.engine == "cpu"
    with pytest.raises(tessera.ArgumentError, match="the context is closed"):
        context.matmul(eye(), eye())
    assert "closed" in repr(context)
    context.close()


def test_arithmetic(tessera):
    with pytest.raises(tessera.ArgumentError, match='arithmetic is "fast"'):
        tessera.Context(engine="host", devices=1, arithmetic="fast")
    with tessera.Context(engine="host", devices=1, arithmetic="emulated") as context:
        assert (context.matmul(eye(), eye()) == eye()).all()
        assert "emulated with" in " ".join(context.last_plan().verdict.split())
        context.set_arithmetic("native")
        assert (context.matmul(eye(), eye()) == eye()).all()
        assert "emulated with" not in " ".join(context.last_plan().verdict.split())
        with pytest.raises(tessera.ArgumentError, match='arithmetic is "fast"'):
            context.set_arithmetic("fast")


def _emulated(plan):
    """The number of moduli that a plan says, None: it is native."""
    found = re.search(r"emulated, (\d+) moduli", plan.text)
    return int(found.group(1)) if found else None


def test_arithmetic_of_a_call(tessera):
    """Every routine, in each way to call it, takes an arithmetic of its own."""
    with tessera.Context(engine="host", devices=1, arithmetic="emulated:15") as context:
        for routine in ("gemm", "matmul", "gemmt", "syrk", "herk", "syr2k", "her2k"):
            operands = (eye(20, "c16"),) * (1 if routine in ("syrk", "herk") else 2)
            for arithmetic, moduli in ((None, 15), ("native", None), ("emulated", 14)):
                plan = context.plan(routine, *operands, arithmetic=arithmetic)
                assert _emulated(plan) == moduli, (routine, arithmetic)
                getattr(context, routine)(*operands, arithmetic=arithmetic)
                assert _emulated(context.last_plan()) == moduli, (routine, arithmetic)
        for routine in ("symm", "hemm", "trmm", "trsm"):
            for call in (getattr(context, routine), partial(context.submit, routine)):
                with pytest.raises(tessera.ArgumentError, match='arithmetic is "slow"'):
                    call(eye(8, "c16"), eye(8, "c16"), arithmetic="slow")
        future = context.submit("gemm", eye(), eye(), arithmetic="emulated:16")
        assert (future.result() == eye()).all()
        with context.composed() as t:
            x = t.gemm(eye(), eye(), arithmetic="native")
            assert (np.asarray(t.gemm(x, x, arithmetic="emulated")) == eye()).all()
        with pytest.raises(tessera.ArgumentError, match='arithmetic is "fast"'):
            context.gemm(eye(), eye(), arithmetic="fast")
        with pytest.raises(tessera.ArgumentError, match="arithmetic is 12; give text"):
            context.gemm(eye(), eye(), arithmetic=12)


def test_memory(tessera):
    """Errors of the library have their classes."""
    with tessera.Context(engine="host", devices=1, memory=10**6) as context:
        with pytest.raises(tessera.OutOfMemoryError) as told:
            context.empty((10**6, 10**6), device=0)
        assert isinstance(told.value, MemoryError) and isinstance(told.value, tessera.Error)
        assert told.value.message == str(told.value) != ""


def test_the_default_context(tessera):
    with tessera.Context(engine="cpu") as mine:
        tessera.set_default_context(mine)
        assert tessera.default_context() is mine
        assert (tessera.gemm(eye(), eye()) == eye()).all()
    assert tessera.default_context() is not mine  # which is closed
    tessera.set_default_context(None)
