# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Level-3 BLAS on several GPUs, for the arrays of NumPy, CuPy, PyTorch, JAX and others.

    import tessera
    c = tessera.matmul(a, b)

Functions (help(tessera.gemm) says more; what holds for all routines: help(tessera.Routines)):

    matmul(a, b)              a @ b, of matrices, vectors and stacks of matrices
    gemm(a, b)                alpha op(a) op(b) + beta c
    gemmt(a, b)               one triangle of it
    symm(a, b), hemm(a, b)    products by a symmetric or Hermitian a
    syrk(a), herk(a)          one triangle of a a^T, a a^H
    syr2k(a, b), her2k(a, b)  one triangle of a b^T + b a^T, a b^H + b a^H
    trmm(a, b), trsm(a, b)    products by a triangular a, and its systems of equations

    linalg                    a module: cholesky, solve, inv and others for positive definite and
                              triangular matrices

    plan("gemm", a, b)        what a call would do, how long it would take, what binds it
    submit("gemm", a, b)      a call beside the program: a Future
    composed()                calls that leave their results on the devices
    sync(), sync_home()       wait for calls; sync_home also brings results to host memory
    empty(shape), zeros(shape)  arrays in pinned memory, or on a device
    default_context(), set_default_context(context)  the Context that these functions use
    version_number()          the version as a number

They use one Context, which is made when it is first needed, with all GPUs that help or the CPU's BLAS.
"""
from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING as _CHECKING, Any, Sequence, overload as _overload

import numpy as _np

from . import linalg
from ._arrays import DeviceArray
from ._compose import Capture, Composition, Future, Result
from ._context import (Context, Traffic, _OfModule, default_context, set_default_context)
from ._library import (ArgumentError, CheckError, DeviceError, EngineError, Error, FileError,
                       InternalError, MachineError, OutOfMemoryError, UnsupportedError)
from ._library import version as _version
from ._library import version_number as _version_number
from ._plan import Busy, Instead, Plan
from ._prepare import CopyWarning
from ._routines import Routines

if _CHECKING:
    from numpy.typing import DTypeLike

    from ._types import A, Array, Order, Product, RoutineName, Shape, Triangular

__all__ = [
    "ArgumentError", "Busy", "Capture", "CheckError", "Composition", "Context", "CopyWarning",
    "DeviceArray", "DeviceError", "EngineError", "Error", "FileError", "Future", "Instead",
    "InternalError", "MachineError", "OutOfMemoryError", "Plan", "Result", "Routines", "Traffic",
    "UnsupportedError", "composed", "default_context", "empty", "gemm", "gemmt", "hemm", "her2k",
    "herk", "linalg", "matmul", "plan", "set_default_context", "submit", "symm", "sync", "sync_home", "syr2k",
    "syrk", "trmm", "trsm", "version_number", "zeros",
]

__version__ = _version()

_routines = _OfModule()
matmul = _routines.matmul
gemm = _routines.gemm
gemmt = _routines.gemmt
symm = _routines.symm
hemm = _routines.hemm
syrk = _routines.syrk
herk = _routines.herk
syr2k = _routines.syr2k
her2k = _routines.her2k
trmm = _routines.trmm
trsm = _routines.trsm


@_overload
def submit(routine: Product, a: A, *arrays: Array, **arguments: Any) -> Future[A]: ...


@_overload
def submit(routine: Triangular, a: Array, b: A, *arrays: Array, **arguments: Any) -> Future[A]: ...


def submit(routine: RoutineName, *arrays: Any, **arguments: Any) -> Future[Any]:
    """Context.submit of the default context."""
    return default_context().submit(routine, *arrays, **arguments)


def composed() -> AbstractContextManager[Composition]:
    """Context.composed of the default context."""
    return default_context().composed()


def plan(routine: RoutineName, *operands: Array | Shape, dtype: DTypeLike = _np.float64,
         homes: str | int | Sequence[str | int] | None = None, **arguments: Any) -> Plan:
    """Context.plan of the default context."""
    return default_context().plan(routine, *operands, dtype=dtype, homes=homes, **arguments)


def sync() -> None:
    """Context.sync of the default context."""
    default_context().sync()


def sync_home() -> None:
    """Context.sync_home of the default context."""
    default_context().sync_home()


def version_number() -> int:
    """The version of the library that is loaded, as a number that grows from version to version:
    10000 major + 100 minor + patch. __version__ is the text."""
    return _version_number()


@_overload
def empty(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: None = None) -> _np.ndarray[Any, Any]: ...


@_overload
def empty(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: int) -> DeviceArray: ...


@_overload
def empty(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: int | None = None) -> _np.ndarray[Any, Any] | DeviceArray: ...


def empty(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: int | None = None) -> Any:
    """Context.empty of the default context."""
    return default_context().empty(shape, dtype, order, device=device)


@_overload
def zeros(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: None = None) -> _np.ndarray[Any, Any]: ...


@_overload
def zeros(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: int) -> DeviceArray: ...


@_overload
def zeros(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: int | None = None) -> _np.ndarray[Any, Any] | DeviceArray: ...


def zeros(shape: int | Sequence[int], dtype: DTypeLike = _np.float64, order: Order = "C", *,
          device: int | None = None) -> Any:
    """Context.zeros of the default context."""
    return default_context().zeros(shape, dtype, order, device=device)

for _name in __all__:  # they are shown, and pickled, by the names that users write
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
