# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The routines of the level-3 BLAS on arrays. Who carries them out differs: a context at once, a
composition one after another, a future beside the program, and a plan not at all."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from ._arguments import whether, whether_or_none
from ._layout import Flags
from ._library import ArgumentError
from ._types import Array, Diag, Number, Op, R, Real, Side, Uplo

_LETTERS = {
    "side": {"l": "L", "left": "L", "r": "R", "right": "R"},
    "uplo": {"l": "L", "lower": "L", "u": "U", "upper": "U"},
    "trans": {"n": "N", "t": "T", "c": "C"},
    "diag": {"n": "N", "non-unit": "N", "u": "U", "unit": "U"},
}
_SAID = {"side": "'left' or 'right'", "uplo": "'lower' or 'upper'", "trans": "'N', 'T' or 'C'",
         "diag": "'non-unit' or 'unit'"}


def _flag(name: str, value: str) -> str:
    kind = "trans" if name.startswith("trans") else name
    letter = _LETTERS[kind].get(value.lower()) if isinstance(value, str) else None
    if letter is None:
        raise ArgumentError(f"{name} is {value!r}; give {_SAID[kind]}")
    return letter


def _is_matrix(given: Any) -> bool:
    """Whether it counts as a matrix: a shape does, and an array that does not tell its dimensions."""
    return getattr(given, "ndim", 2) in (0, 2)


@dataclass(frozen=True)
class Request:
    """A routine with what the user gave."""

    operation: str
    flags: Flags
    a: Any
    b: Any  # of trmm and trsm: what the result begins as
    c: Any
    out: Any
    alpha: Any
    beta: Any
    tf32: bool
    copy: bool | None
    arithmetic: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tf32", whether("tf32", self.tf32))
        object.__setattr__(self, "copy", whether_or_none("copy", self.copy))


class Routines(Generic[R]):
    """The routines. What holds for all of them:

    Arrays are matrices (two dimensions; of matmul also vectors and stacks) of NumPy, CuPy, PyTorch, JAX or anything else that has
    DLPack or __cuda_array_interface__, in host memory or on GPUs, all of one type: float32,
    float64, complex64 or complex128; of gemm also float16 and bfloat16. Nothing is broadcast and
    no type is converted. Rows or columns that are contiguous are used in place, so C- and
    F-ordered arrays, their transposes and slices cost nothing; an input with other strides, or with
    big-endian numbers, is copied first, with a CopyWarning (copy=True: without the warning;
    copy=False: refused).

    out takes the result and is returned; without it the result is a new array of the library that a
    (of trmm and trsm, b) is of. Routines that write one triangle leave the other one of out as it
    is; in a new array it is zero.

    c is added: result = alpha op(a) op(b) + beta c. With c and without beta, beta is 1. With beta
    and without c, what is in out is added. c itself is not changed unless it is out.

    Flags: side 'left' or 'right', uplo 'lower' or 'upper', trans 'N', 'T' (transposed) or 'C'
    (conjugated and transposed), diag 'non-unit' or 'unit'.

    arithmetic: how this call is computed, as Context's argument; None: as the context says.

    Errors: ArgumentError (nothing was touched), OutOfMemoryError (nothing was touched), DeviceError
    (the result is undefined), and TypeError for what is no array.
    """

    def _carry_out(self, request: Request) -> R:
        raise NotImplementedError

    def _carry_out_stack(self, request: Request) -> R:
        """Of vectors or stacks. Who cannot refuses them as any other routine does."""
        return self._carry_out(request)

    def _routine(self, operation: str, a: Any, b: Any, c: Any, out: Any, alpha: Number,
                 beta: Number | None, copy: bool | None, arithmetic: str | None,
                 tf32: bool = False, **flags: str) -> R:
        letters = {("transa" if name == "trans" else name): _flag(name, value)
                   for name, value in flags.items()}
        return self._carry_out(Request(operation, Flags(**letters), a, b, c, out, alpha, beta,
                                       tf32, copy, arithmetic))

    # The arguments of the routines are those of src/blas/routines.def: tools/routines/write.py
    # writes all of a method but its text.

    def gemm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, transa: Op = "N", transb: Op = "N",
             tf32: bool = False, copy: bool | None = None, arithmetic: str | None = None) -> R:
        """alpha op(a) op(b) + beta c. op(a) is m x k, op(b) k x n, the result m x n.

        tf32: float32 matrices are multiplied in TF32 where the GPU can, which is faster and keeps
        about three decimal digits. float16 and bfloat16 are summed in float32."""
        return self._routine("gemm", a, b, c, out, alpha, beta, copy, arithmetic, tf32=tf32,
                             transa=transa, transb=transb)

    def matmul(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
               beta: Number | None = None, c: Array | None = None, transa: Op = "N",
               transb: Op = "N", tf32: bool = False, copy: bool | None = None,
               arithmetic: str | None = None) -> R:
        """The product a @ b, or alpha op(a) op(b) + beta c. Two matrices: as gemm.

        As NumPy's matmul it also takes vectors (one dimension: a row as a, a column as b, and the
        result has no such dimension) and stacks of matrices (three dimensions or more: the last two
        are the matrices', and stacks whose extents are 1 or missing count as often as needed). All
        products of a stack are carried out together; with one matrix b they are one product."""
        if _is_matrix(a) and _is_matrix(b):
            return self.gemm(a, b, out, alpha=alpha, beta=beta, c=c, transa=transa, transb=transb,
                             tf32=tf32, copy=copy, arithmetic=arithmetic)
        flags = Flags(transa=_flag("transa", transa), transb=_flag("transb", transb))
        return self._carry_out_stack(Request("gemm", flags, a, b, c, out, alpha, beta, tf32, copy,
                                             arithmetic))

    def gemmt(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
              beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
              transa: Op = "N", transb: Op = "N", copy: bool | None = None,
              arithmetic: str | None = None) -> R:
        """One triangle of alpha op(a) op(b) + beta c. op(a) is n x k, op(b) k x n."""
        return self._routine("gemmt", a, b, c, out, alpha, beta, copy, arithmetic, uplo=uplo,
                             transa=transa, transb=transb)

    def symm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, side: Side = "left",
             uplo: Uplo = "lower", copy: bool | None = None, arithmetic: str | None = None) -> R:
        """alpha a b + beta c (side 'left') or alpha b a + beta c ('right'). a is symmetric; only
        its triangle uplo is read. b and the result are m x n."""
        return self._routine("symm", a, b, c, out, alpha, beta, copy, arithmetic, side=side,
                             uplo=uplo)

    def hemm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, side: Side = "left",
             uplo: Uplo = "lower", copy: bool | None = None, arithmetic: str | None = None) -> R:
        """As symm with a Hermitian a; complex matrices."""
        return self._routine("hemm", a, b, c, out, alpha, beta, copy, arithmetic, side=side,
                             uplo=uplo)

    def syrk(self, a: Array, out: Array | None = None, *, alpha: Number = 1,
             beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
             trans: Op = "N", copy: bool | None = None, arithmetic: str | None = None) -> R:
        """One triangle of alpha op(a) op(a)^T + beta c. op(a) is n x k; complex matrices take
        trans 'N' or 'T'."""
        return self._routine("syrk", a, None, c, out, alpha, beta, copy, arithmetic, uplo=uplo,
                             trans=trans)

    def herk(self, a: Array, out: Array | None = None, *, alpha: Real = 1, beta: Real | None = None,
             c: Array | None = None, uplo: Uplo = "lower", trans: Op = "N",
             copy: bool | None = None, arithmetic: str | None = None) -> R:
        """One triangle of alpha op(a) op(a)^H + beta c, with real alpha and beta. op(a) is n x k;
        complex matrices, trans 'N' or 'C'."""
        return self._routine("herk", a, None, c, out, alpha, beta, copy, arithmetic, uplo=uplo,
                             trans=trans)

    def syr2k(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
              beta: Number | None = None, c: Array | None = None, uplo: Uplo = "lower",
              trans: Op = "N", copy: bool | None = None, arithmetic: str | None = None) -> R:
        """One triangle of alpha op(a) op(b)^T + alpha op(b) op(a)^T + beta c. op(a) and op(b) are
        n x k; complex matrices take trans 'N' or 'T'."""
        return self._routine("syr2k", a, b, c, out, alpha, beta, copy, arithmetic, uplo=uplo,
                             trans=trans)

    def her2k(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
              beta: Real | None = None, c: Array | None = None, uplo: Uplo = "lower",
              trans: Op = "N", copy: bool | None = None, arithmetic: str | None = None) -> R:
        """One triangle of alpha op(a) op(b)^H + conj(alpha) op(b) op(a)^H + beta c, with a real
        beta. op(a) and op(b) are n x k; complex matrices, trans 'N' or 'C'."""
        return self._routine("her2k", a, b, c, out, alpha, beta, copy, arithmetic, uplo=uplo,
                             trans=trans)

    def trmm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             side: Side = "left", uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> R:
        """alpha op(a) b (side 'left') or alpha b op(a) ('right'). a is triangular; only its
        triangle uplo is read, and with diag 'unit' its diagonal counts as ones. b is m x n and
        stays as it is, unless it is out as well."""
        return self._routine("trmm", a, b, None, out, alpha, None, copy, arithmetic, side=side,
                             uplo=uplo, transa=transa, diag=diag)

    def trsm(self, a: Array, b: Array, out: Array | None = None, *, alpha: Number = 1,
             side: Side = "left", uplo: Uplo = "lower", transa: Op = "N", diag: Diag = "non-unit",
             copy: bool | None = None, arithmetic: str | None = None) -> R:
        """The x of op(a) x = alpha b (side 'left') or x op(a) = alpha b ('right'). a is triangular;
        only its triangle uplo is read, and with diag 'unit' its diagonal counts as ones. b is m x n
        and stays as it is, unless it is out as well. Zeros on the diagonal are not looked for."""
        return self._routine("trsm", a, b, None, out, alpha, None, copy, arithmetic, side=side,
                             uplo=uplo, transa=transa, diag=diag)
