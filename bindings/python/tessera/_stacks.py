# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Vectors and stacks of matrices, as NumPy's matmul has them: to products of two matrices each."""
from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._library import ArgumentError
from ._matrix import letter_of, numpy_type
from ._prepare import begins_with, shares_memory
from ._routines import Request

_LIBRARIES = ("numpy", "cupy", "torch")


@dataclass(frozen=True)
class Stack:
    """The products, and the array that holds all results."""

    requests: list[Request]
    out: Any
    is_new: bool

    @property
    def result(self) -> Any:
        """A product of two vectors is a number, as NumPy's is."""
        return self.out[()] if self.is_new and isinstance(self.out, np.ndarray) else self.out


@dataclass(frozen=True)
class _Side:
    """An argument as a stack of matrices."""

    name: str
    array: Any
    is_vector: bool
    trans: str

    @property
    def stack(self) -> tuple[int, ...]:
        return tuple(self.array.shape[:-2])

    @property
    def op_shape(self) -> tuple[int, int]:
        rows, columns = self.array.shape[-2:]
        return (rows, columns) if self.trans == "N" else (columns, rows)

    def at(self, place: tuple[int, ...]) -> Any:
        """The matrix for a place in the result's stack."""
        if not self.stack:
            return self.array
        own = place[len(place) - len(self.stack):]
        return self.array[tuple(0 if extent == 1 else i for i, extent in zip(own, self.stack))]


def _library(array: Any) -> str:
    return "numpy" if isinstance(array, np.ndarray) else type(array).__module__.split(".")[0]


def _side(name: str, given: Any, trans: str) -> _Side:
    array = given._tessera_array() if hasattr(given, "_tessera_array") else given
    if array.ndim == 0:
        raise ArgumentError(f"{name} has 0 dimensions, (); give a vector, a matrix or a stack of matrices")
    if array.ndim != 2 and _library(array) not in _LIBRARIES:
        raise ArgumentError(f"{name} is a {type(given).__name__} with {array.ndim} dimensions; give an array of NumPy, "
                            "CuPy or PyTorch, or a matrix")
    if array.ndim > 1:
        return _Side(name, array, False, trans)
    if trans != "N":
        raise ArgumentError(f"trans{name} is {trans!r}, but {name} is a vector; leave trans{name} out")
    return _Side(name, array[None, :] if name == "a" else array[:, None], True, trans)


def _common(a: _Side, b: _Side) -> tuple[int, ...]:
    """The stack of the results."""
    try:
        return tuple(np.broadcast_shapes(a.stack, b.stack))
    except ValueError:
        raise ArgumentError(f"a is a stack of {a.stack} matrices, and b one of {b.stack}; give stacks whose extents "
                            "are the same, or 1") from None


def _check_inner(a: _Side, b: _Side) -> None:
    one, other = a.op_shape[1], b.op_shape[0]
    if one != other:
        raise ArgumentError(f"a has {one} {'elements' if a.is_vector else 'columns'}, but b has {other} "
                            f"{'elements' if b.is_vector else 'rows'}; give arrays that fit")


def _new(a: _Side, b: _Side, shape: tuple[int, ...]) -> Any:
    """An array for the results, of the first argument's library that can make one."""
    like: Any = next((x.array for x in (a, b) if _library(x.array) in _LIBRARIES), None)
    library = _library(like)
    if library == "torch":
        return sys.modules["torch"].empty(shape, dtype=like.dtype, device=like.device)
    if library == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype=like.dtype)
    assert isinstance(like, np.ndarray)
    name = "a" if like is a.array else "b"
    return np.empty(shape, numpy_type(letter_of(like.dtype.newbyteorder("="), f"{name}.dtype")))


def _check_shape(name: str, array: Any, shape: tuple[int, ...]) -> None:
    found = getattr(array, "shape", None)
    if found is None or tuple(found) != shape:
        raise ArgumentError(f"{name} is {found if found is not None else array!r}, but the result is {shape}; give an "
                            "array of that shape")


def _as_matrices(array: Any, a: _Side, b: _Side) -> Any:
    """The result's array with two dimensions for each matrix."""
    if a.is_vector and b.is_vector:
        return array[..., None, None]
    if a.is_vector:
        return array[..., None, :]
    return array[..., :, None] if b.is_vector else array


def _is_dense(array: Any) -> bool:
    if _library(array) == "torch":
        return bool(array.is_contiguous())
    return bool(array.flags.c_contiguous)


def _folded(request: Request, a: _Side, b: _Side, held: Any, c: Any) -> Request | None:
    """All products as one, if b is one matrix and the rows of a lie one behind another."""
    arrays = [a.array, held] + ([] if c is None else [c])
    if b.stack or a.trans != "N" or not a.stack or not all(_library(x) in _LIBRARIES and _is_dense(x) for x in arrays):
        return None
    rows = math.prod(a.stack) * a.op_shape[0]
    flat = [x.reshape(rows, x.shape[-1]) for x in arrays]
    return replace(request, a=flat[0], b=b.array, out=flat[1], c=None if c is None else flat[2])


def _refuse_shared(out: Any, a: _Side, b: _Side) -> None:
    for x in (a, b):
        if isinstance(out, np.ndarray) and isinstance(x.array, np.ndarray) and shares_memory(out, x.array):
            raise ArgumentError(f"out and {x.name} share memory; give an array of its own")


def stacked(request: Request) -> Stack:
    """The products of a request whose arguments are not both matrices."""
    a, b = _side("a", request.a, request.flags.transa), _side("b", request.b, request.flags.transb)
    _check_inner(a, b)
    stack, is_new = _common(a, b), request.out is None
    m, n = a.op_shape[0], b.op_shape[1]
    shape = stack + (() if a.is_vector else (m,)) + (() if b.is_vector else (n,))
    request = replace(request, beta=begins_with(request))
    if not is_new:
        _check_shape("out", request.out, shape)
        _refuse_shared(request.out, a, b)
    if request.c is not None:
        _check_shape("c", request.c, shape)
    out = _new(a, b, shape) if is_new else request.out
    held = _as_matrices(out, a, b)
    c = None if request.c is None else held if request.c is out else _as_matrices(request.c, a, b)
    one = _folded(request, a, b, held, c)
    if one is not None:
        return Stack([one], out, is_new)
    requests = [replace(request, a=a.at(place), b=b.at(place), out=held[place], c=None if c is None else c[place])
                for place in np.ndindex(*stack)]
    return Stack(requests, out, is_new)
