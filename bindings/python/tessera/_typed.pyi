# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Written by tools/routines/write.py: out is returned; without it the result is as a or, of trmm and trsm, b."""
from typing import Any, overload

from ._routines import Routines
from ._types import A, Array, Diag, Number, Op, Out, Real, Side, Uplo

class ArrayRoutines(Routines[Any]):
    @overload
    def gemm(self, a: A, b: Array, out: None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, transa: Op = "N", transb: Op = "N",
             tf32: bool = False, copy: bool | None = None, arithmetic: str | None = None) -> A: ...
    @overload
    def gemm(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, beta: Number | None = None,
             c: Array | None = None, transa: Op = "N", transb: Op = "N", tf32: bool = False,
             copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def gemm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, transa: Op = "N", transb: Op = "N",
             tf32: bool = False, copy: bool | None = None,
             arithmetic: str | None = None) -> Array: ...
    @overload
    def matmul(self, a: A, b: Array, out: None = None, *, alpha: Number = 1,
               beta: Number | None = None, c: Array | None = None, transa: Op = "N",
               transb: Op = "N", tf32: bool = False, copy: bool | None = None,
               arithmetic: str | None = None) -> A: ...
    @overload
    def matmul(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, beta: Number | None = None,
               c: Array | None = None, transa: Op = "N", transb: Op = "N", tf32: bool = False,
               copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def matmul(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
               beta: Number | None = None, c: Array | None = None, transa: Op = "N",
               transb: Op = "N", tf32: bool = False, copy: bool | None = None,
               arithmetic: str | None = None) -> Array: ...
    @overload
    def gemmt(self, a: A, b: Array, out: None = None, *, alpha: Number = 1,
              beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
              transa: Op = "N", transb: Op = "N", copy: bool | None = None,
              arithmetic: str | None = None) -> A: ...
    @overload
    def gemmt(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, beta: Number | None = None,
              c: Array | None = None, uplo: Uplo = "lower", transa: Op = "N", transb: Op = "N",
              copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def gemmt(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
              beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
              transa: Op = "N", transb: Op = "N", copy: bool | None = None,
              arithmetic: str | None = None) -> Array: ...
    @overload
    def symm(self, a: A, b: Array, out: None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, side: Side = "left",
             uplo: Uplo = "lower", copy: bool | None = None,
             arithmetic: str | None = None) -> A: ...
    @overload
    def symm(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, beta: Number | None = None,
             c: Array | None = None, side: Side = "left", uplo: Uplo = "lower",
             copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def symm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, side: Side = "left",
             uplo: Uplo = "lower", copy: bool | None = None,
             arithmetic: str | None = None) -> Array: ...
    @overload
    def hemm(self, a: A, b: Array, out: None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, side: Side = "left",
             uplo: Uplo = "lower", copy: bool | None = None,
             arithmetic: str | None = None) -> A: ...
    @overload
    def hemm(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, beta: Number | None = None,
             c: Array | None = None, side: Side = "left", uplo: Uplo = "lower",
             copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def hemm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, side: Side = "left",
             uplo: Uplo = "lower", copy: bool | None = None,
             arithmetic: str | None = None) -> Array: ...
    @overload
    def syrk(self, a: A, out: None = None, *, alpha: Number = 1, beta: Number | None = None,
             c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
             copy: bool | None = None, arithmetic: str | None = None) -> A: ...
    @overload
    def syrk(self, a: Array, out: Out, *, alpha: Number = 1, beta: Number | None = None,
             c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
             copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def syrk(self, a: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
             trans: Op = "N", copy: bool | None = None, arithmetic: str | None = None) -> Array: ...
    @overload
    def herk(self, a: A, out: None = None, *, alpha: Real = 1, beta: Real | None = None,
             c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
             copy: bool | None = None, arithmetic: str | None = None) -> A: ...
    @overload
    def herk(self, a: Array, out: Out, *, alpha: Real = 1, beta: Real | None = None,
             c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
             copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def herk(self, a: Array, out: Array | None = None, *, alpha: Real = 1, beta: Real | None = None,
             c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
             copy: bool | None = None, arithmetic: str | None = None) -> Array: ...
    @overload
    def syr2k(self, a: A, b: Array, out: None = None, *, alpha: Number = 1,
              beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
              trans: Op = "N", copy: bool | None = None, arithmetic: str | None = None) -> A: ...
    @overload
    def syr2k(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, beta: Number | None = None,
              c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
              copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def syr2k(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
              beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
              trans: Op = "N", copy: bool | None = None,
              arithmetic: str | None = None) -> Array: ...
    @overload
    def her2k(self, a: A, b: Array, out: None = None, *, alpha: Number = 1,
              beta: Real | None = None, c: Array | None = None, uplo: Uplo = "lower",
              trans: Op = "N", copy: bool | None = None, arithmetic: str | None = None) -> A: ...
    @overload
    def her2k(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, beta: Real | None = None,
              c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
              copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def her2k(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
              beta: Real | None = None, c: Array | None = None, uplo: Uplo = "lower",
              trans: Op = "N", copy: bool | None = None,
              arithmetic: str | None = None) -> Array: ...
    @overload
    def trmm(self, a: Array, b: A, out: None = None, *, alpha: Number = 1, side: Side = "left",
             uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> A: ...
    @overload
    def trmm(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, side: Side = "left",
             uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def trmm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             side: Side = "left", uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> Array: ...
    @overload
    def trsm(self, a: Array, b: A, out: None = None, *, alpha: Number = 1, side: Side = "left",
             uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> A: ...
    @overload
    def trsm(self, a: Array, b: Array, out: Out, *, alpha: Number = 1, side: Side = "left",
             uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> Out: ...
    @overload
    def trsm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             side: Side = "left", uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> Array: ...
