# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""From what the user gave to what the library takes: checks, the result's array, copies."""
from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _arrays, _layout
from ._arguments import text_of
from ._layout import ONE_TRIANGLE, REAL_ALPHA, REAL_BETA, TRIANGULAR, WITH_B, Call, remedy
from ._library import ArgumentError, UnsupportedError, check, ffi, lib
from ._matrix import (COMPLEX, NAMES, SIZES, Matrix, StreamOf, conversion, copied, host_view, matrix_of,
                      numpy_type, span)
from ._routines import Request


class CopyWarning(UserWarning):
    """An input was copied before the call, since the BLAS cannot take it with its strides."""


@dataclass
class Prepared:
    """A call of the library, ready to be made."""

    call: Call
    what: Any  # tsr_level3 *
    arithmetic: Any  # the text to which `what` points
    alpha: Any
    beta: Any
    out: Any  # the array that the user gets

    def pointer(self, name: str) -> Any:
        x = self.call.operands.get(name)
        return ffi.NULL if x is None else ffi.cast("void *", x.address)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Those of tsr_level3_run, behind the context."""
        return (self.what, self.alpha, self.pointer("a"), self.pointer("b"), self.beta,
                self.pointer("c"))


# ---- Scalars ----

_REAL = {"s": "float *", "d": "double *", "c": "float *", "z": "double *"}


def _number(name: str, value: Any) -> complex:
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return complex(value)
    except Exception:
        raise ArgumentError(f"{name} is {value!r}; give a number") from None


def _scalar(name: str, value: Any, letter: str, real: bool) -> Any:
    """alpha or beta, as the routine takes it."""
    number = _number(name, value)
    if letter not in COMPLEX or real:
        if number.imag != 0:
            raise ArgumentError(f"{name} is {value!r}; give a real number to this routine")
        return ffi.new(_REAL.get(letter, "float *"), number.real)
    parts = "float[2]" if letter == "c" else "double[2]"
    return ffi.new(parts, [number.real, number.imag])


def begins_with(request: Request) -> Any:
    """beta: what the result begins as is multiplied by it."""
    if request.beta is None:
        return 1 if request.c is not None else 0
    if request.c is None and request.out is None and _number("beta", request.beta) != 0:
        raise ArgumentError(f"beta is {request.beta!r}, but there is nothing to multiply by it; "
                            "give c, or out with what is to be added")
    return request.beta


# ---- The result's array ----


def _new(like: Matrix, shape: tuple[int, int], by_rows: bool, handle: Any) -> Any:
    """An array for the result, of the library that `like` is of."""
    array = like.array
    order: Literal["C", "F"] = "C" if by_rows else "F"
    if isinstance(array, np.ndarray):
        return np.empty(shape, numpy_type(like.letter), order=order)
    if isinstance(array, _arrays.DeviceArray):
        return _arrays.on_device(handle, shape, like.letter, order, array.device)
    library = type(array).__module__.split(".")[0]
    module = sys.modules.get(library)
    held = shape if by_rows else shape[::-1]
    if library == "torch" and module is not None:
        made = module.empty(held, dtype=array.dtype, device=array.device)
        return made if by_rows else made.t()
    if library == "cupy" and module is not None:
        with array.device:
            return module.empty(shape, dtype=array.dtype, order=order)
    return _own(like, shape, order, handle)


def _own(like: Matrix, shape: tuple[int, int], order: str, handle: Any) -> Any:
    """An array of ours in the same kind of memory; it becomes one of the other library when it is
    complete."""
    home = handle.home(like.address, like.bytes)
    if home.memory == lib.TSR_DEVICE:
        return _arrays.on_device(handle, shape, like.letter, order, home.location)
    return _arrays.pinned(handle, shape, numpy_type(like.letter), order)


def given_back(array: Any, request: Request) -> Any:
    """A new result as an array of the library that the input is of, where that library makes arrays
    by DLPack alone (JAX); others: as it is."""
    like = request.b if request.operation in TRIANGULAR else request.a
    if isinstance(like, np.ndarray) or type(array) is type(like):
        return array
    if not isinstance(array, (np.ndarray, _arrays.DeviceArray)):
        return array
    namespace = getattr(like, "__array_namespace__", None)
    take = getattr(namespace(), "from_dlpack", None) if namespace is not None else None
    return array if take is None else take(array)


def _zero(x: Matrix, handle: Any) -> None:
    """Of new memory, for a triangle that no routine writes."""
    if x.bytes == 0:
        return
    if handle.home(x.address, x.bytes).memory != lib.TSR_DEVICE:
        host_view(x)[...] = 0
    elif isinstance(x.array, _arrays.DeviceArray):
        x.array.set(np.zeros(x.shape, x.array.dtype))
    else:
        x.array[...] = 0


def _fill(to: Matrix, source: Matrix, handle: Any) -> None:
    """Copies one matrix to another of the same shape."""
    if to.bytes == 0:
        return
    on_host = [handle.home(x.address, x.bytes).memory != lib.TSR_DEVICE for x in (to, source)]
    if all(on_host):
        values = host_view(source)
        host_view(to)[...] = values.conj() if source.conjugated else values
    elif _dense_alike(to, source):
        handle.copy(to.address, source.address, to.bytes, to, source)
    elif hasattr(to.array, "__setitem__"):
        to.array[...] = source.array
    else:
        raise UnsupportedError(f"{source.name} cannot be copied to the result on the device: they "
                               "have different orders; give out with what it begins as")


def _dense_alike(one: Matrix, other: Matrix) -> bool:
    same = (one.row_stride, one.column_stride) == (other.row_stride, other.column_stride)
    dense = one.row_stride * one.column_stride == max(1, one.columns if one.column_stride == 1
                                                      else one.rows)
    return same and dense and not other.conjugated


def _memory_of(x: Matrix) -> tuple[int, int, int, int, int]:
    return x.address, x.rows, x.columns, x.row_stride, x.column_stride


def shares_memory(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether they have elements in common; true where that is hard to say."""
    try:
        return bool(np.shares_memory(one, other, max_work=10**6))
    except Exception:  # NumPy's TooHardError, which has moved between its versions
        return True


def _overlap(one: Matrix, other: Matrix) -> bool:
    """Whether they have elements in common; perhaps, where that is hard to say."""
    if one.bytes == 0 or other.bytes == 0:
        return False
    here, there = span(one), span(other)
    if here.stop <= there.start or there.stop <= here.start:
        return False
    # Of memory on devices, too: only addresses are looked at.
    return shares_memory(host_view(one), host_view(other))


def _refuse_overlap(c: Matrix, others: list[Matrix]) -> None:
    for other in others:
        if _overlap(c, other):
            raise ArgumentError(f"{c.name} and {other.name} share memory; give an array of its own")


def _target(request: Request, inputs: dict[str, Matrix], begins: Matrix | None, by_rows: bool,
            shape: tuple[int, int], handle: Any, streams: StreamOf) -> Matrix:
    """The result's matrix, with what it begins as in it."""
    if request.out is None:
        like = begins if request.operation in TRIANGULAR and begins is not None else inputs["a"]
        c = matrix_of("out", _new(like, shape, by_rows, handle), streams)
        if request.operation in ONE_TRIANGLE:
            _zero(c, handle)
    else:
        c = matrix_of("out", request.out, streams)
        _check_out(c, inputs["a"], shape)
        _refuse_overlap(c, list(inputs.values()))
    if begins is not None and _memory_of(begins) != _memory_of(c):
        _refuse_overlap(c, [begins, *inputs.values()])
        _fill(c, begins, handle)
    return c


def _check_out(c: Matrix, a: Matrix, shape: tuple[int, int]) -> None:
    if not c.writable:
        raise ArgumentError("out cannot be written to: it is read-only or of a library whose arrays "
                            "do not change; leave out away, and a new array is returned")
    _check_like(c, a)
    if c.shape != shape:
        raise ArgumentError(f"out is {c.rows} x {c.columns}, but the result is {shape[0]} x "
                            f"{shape[1]}; give an array of that shape")


def _check_like(x: Matrix, a: Matrix) -> None:
    if x.letter == a.letter:
        return
    words = [] if x.name == "out" else [conversion(x, a.letter), conversion(a, x.letter)]
    how = " or ".join(word for word in words if word)
    raise ArgumentError(f"{x.name} has the type {NAMES[x.letter]}, but a has {NAMES[a.letter]}: no type is "
                        f"converted; give {how or 'matrices of one type'}")


# ---- All of it ----


def _inputs(request: Request, streams: StreamOf) -> tuple[dict[str, Matrix], Matrix | None]:
    """a, b of routines that only read it, and what the result begins as."""
    operands = {"a": matrix_of("a", request.a, streams)}
    if request.operation in WITH_B:
        operands["b"] = matrix_of("b", request.b, streams)
    if request.c is not None:
        operands["c"] = matrix_of("c", request.c, streams)
    for x in operands.values():
        _check_like(x, operands["a"])
    begins = operands.pop("b" if request.operation in TRIANGULAR else "c", None)
    return operands, begins


def _letter(request: Request, a: Matrix) -> str:
    if not request.tf32:
        return a.letter
    if a.letter != "s":
        raise ArgumentError(f"tf32 is set, but the matrices have the type {NAMES[a.letter]}; "
                            "give float32")
    return "t"


def _level_of_user() -> int:
    """The caller of warnings.warn counts as 1; the user's frame is the first outside this
    package."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level + 1


def _copy_inputs(call: Call, copy: bool | None, handle: Any) -> None:
    """Copies what the call cannot take as it is, with the user's leave."""
    for name, why in call.copies.items():
        x = call.operands[name]
        text = (f"{name} is copied first ({x.bytes / 1e6:.1f} MB), since {why}; give "
                f"{remedy(x)} to avoid this")
        if copy is False:
            raise ArgumentError(text.replace("is copied first", "would have to be copied"))
        if handle.home(x.address, 1).memory == lib.TSR_DEVICE:
            raise ArgumentError(f"{name} is on a device and would have to be copied there, since "
                                f"{why}; give {remedy(x)}")
        if copy is None:
            warnings.warn(text, CopyWarning, stacklevel=_level_of_user())
        call.operands[name] = copied(x, call.by_rows)


def c_arithmetic(arithmetic: str | None) -> Any:
    """What the library takes; the caller keeps it while the library may read it."""
    if arithmetic is None:
        return ffi.NULL
    told = text_of("arithmetic", arithmetic, "give text, such as 'emulated', or None")
    return ffi.new("char[]", told.encode())


def level3(call: Call, letter: str, arithmetic: Any) -> Any:
    """The call as tsr_level3. arithmetic: of c_arithmetic."""
    flags = call.flags
    return ffi.new("tsr_level3 *", {
        "operation": getattr(lib, "TSR_" + call.operation.upper()), "type": ord(letter),
        "layout": lib.TSR_ROW_MAJOR if call.by_rows else lib.TSR_COL_MAJOR,
        "side": ord(flags.side), "uplo": ord(flags.uplo), "transa": ord(flags.transa),
        "transb": ord(flags.transb), "diag": ord(flags.diag), "m": call.m, "n": call.n,
        "k": call.k, "lda": call.ld["a"], "ldb": call.ld.get("b", 1), "ldc": call.ld["c"],
        "arithmetic": arithmetic})


def scalars(request: Request, letter: str) -> tuple[Any, Any]:
    """alpha and beta, as the routine takes them."""
    operation = request.operation
    return (_scalar("alpha", request.alpha, letter, operation in REAL_ALPHA),
            _scalar("beta", begins_with(request), letter, operation in REAL_BETA))


def prepare(request: Request, handle: Any, streams: StreamOf) -> Prepared:
    """Everything that comes before the call."""
    inputs, begins = _inputs(request, streams)
    a, operation = inputs["a"], request.operation
    _layout.check_type(operation, a)
    letter = _letter(request, a)
    sized = begins if operation in TRIANGULAR else inputs.get("b")
    mnk = _layout.extents(operation, request.flags, a, sized)
    alpha, beta = scalars(request, letter)
    arithmetic = c_arithmetic(request.arithmetic)
    if begins is not None and begins.shape != mnk[:2]:
        raise ArgumentError(f"c is {begins.rows} x {begins.columns}, but the result is {mnk[0]} x "
                            f"{mnk[1]}; give an array of that shape")
    by_rows = _layout.best_order(operation, request.flags, mnk, inputs, begins)
    c = _target(request, inputs, begins, by_rows, mnk[:2], handle, streams)
    call = _layout.in_order_of(c, operation, request.flags, mnk, inputs)
    _copy_inputs(call, request.copy, handle)
    return Prepared(call, level3(call, letter, arithmetic), arithmetic, alpha, beta, c.array)
