# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The types of arguments, for type checkers."""
from __future__ import annotations

from typing import Any, Literal, Protocol, TypeVar, Union

import numpy as np

Side = Literal["left", "right", "L", "R", "l", "r"]
Uplo = Literal["lower", "upper", "L", "U", "l", "u"]
Op = Literal["N", "T", "C", "n", "t", "c"]
Diag = Literal["non-unit", "unit", "N", "U", "n", "u"]
Order = Literal["C", "F"]
Product = Literal["matmul", "gemm", "gemmt", "symm", "hemm", "syrk", "herk", "syr2k", "her2k"]
Triangular = Literal["trmm", "trsm"]
RoutineName = Union[Product, Triangular]

Real = Union[float, "np.floating[Any]", "np.integer[Any]"]
Number = Union[complex, "np.number[Any]"]


class SupportsDLPack(Protocol):
    """PyTorch's arrays, JAX's, CuPy's and others."""

    def __dlpack__(self) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class SupportsCudaArray(Protocol):
    """Arrays on GPUs of libraries without DLPack."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


class SupportsTessera(Protocol):
    """A Result, which becomes an array where it is read."""

    def _tessera_array(self) -> Any: ...


Array = Union["np.ndarray[Any, Any]", SupportsDLPack, SupportsCudaArray, SupportsTessera]
Shape = tuple[int, int]  # of a matrix that is planned and does not exist

A = TypeVar("A", bound=Array)  # the result is an array of the same library
Out = TypeVar("Out", bound=Array)
R = TypeVar("R")  # what a call of a routine gives
