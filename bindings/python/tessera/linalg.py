# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Solves with positive definite and triangular matrices, by the names and arguments of SciPy's linalg.

    from tessera import linalg
    x = linalg.solve(a, b, assume_a="pos")

    cholesky(a)               the factor: u with a = u^H u, or l with a = l l^H (lower=True)
    cho_factor(a)             the same for cho_solve; what is beside the triangle is left as it is
    cho_solve((c, lower), b)  a x = b with such a factor
    solve(a, b, assume_a=)    "pos": a is positive definite; "upper triangular", "lower triangular"
    solve_triangular(a, b)    a x = b, a^T x = b or a^H x = b, a triangular
    inv(a, assume_a=)         the inverse, of the same kinds of matrices
    det(a, assume_a=)         the determinant, of the same kinds of matrices

Matrices are NumPy's, or what np.asarray makes one of without a copy, in host memory. float32, float64,
complex64 and complex128 are computed as they are, whole numbers and bool as float64. Matrices in either order
are taken as they are. With overwrite_a (overwrite_b) the result may take the place of a (b), which spares
a copy. context: the tessera.Context to use; None: the default one.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.linalg import LinAlgError

from ._context import Context, default_context
from ._library import ArgumentError, UnsupportedError, ffi, lib

__all__ = ["LinAlgError", "cho_factor", "cho_solve", "cholesky", "det", "inv", "solve", "solve_triangular"]

_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
_KINDS = {"pos": None, "positive definite": None, "upper triangular": False, "lower triangular": True}

Matrix = np.ndarray[Any, Any]


# ---- Arrays ----


def _array(name: str, given: Any, *dimensions: int) -> Matrix:
    """As an array of a type that is computed, without a copy if it is one."""
    try:
        array = np.asarray(given)
    except Exception as error:  # CuPy and PyTorch have errors of their own for memory of a GPU
        raise UnsupportedError(f"{name} is no array in host memory ({error}); give one, or use the C "
                               "functions, which take any memory") from None
    if array.ndim not in dimensions:
        words = " or ".join(str(each) for each in dimensions)
        raise ArgumentError(f"{name} has {array.ndim} dimensions; give an array with {words}")
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    if array.dtype.char not in _LETTERS:
        raise ArgumentError(f"{name} has the type {array.dtype}; give float32, float64, complex64 or complex128: "
                            f"{name}.astype('{'complex128' if array.dtype.kind == 'c' else 'float64'}')")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _square(given: Any) -> Matrix:
    a = _array("a", given, 2)
    if a.shape[0] != a.shape[1]:
        raise ArgumentError(f"a is {a.shape[0]} x {a.shape[1]}; give a square matrix")
    return a


def _ld(a: Matrix, by_rows: bool) -> int | None:
    """The leading dimension of a matrix that is stored by rows, or by columns; None: it is not."""
    fast, slow = (1, 0) if by_rows else (0, 1)
    length, lines = max(1, a.shape[fast]), a.shape[slow]
    if a.shape[fast] > 1 and a.strides[fast] != a.itemsize:
        return None
    if lines <= 1 or a.size == 0:
        return length
    ld, rest = divmod(a.strides[slow], a.itemsize)
    return ld if rest == 0 and ld >= length else None


def _order(a: Matrix) -> bool:
    """Whether a matrix is taken by rows; one that must be copied is so by columns."""
    return _ld(a, False) is None and _ld(a, True) is not None


def _own(a: Matrix, given: Any, by_rows: bool, overwrite: bool) -> Matrix:
    """The matrix, or a copy of it, that a routine may write to."""
    fresh = not isinstance(given, np.ndarray) or not np.may_share_memory(a, given)
    if (overwrite or fresh) and a.flags.writeable and _ld(a, by_rows) is not None:
        return a
    return np.array(a, order="C" if by_rows else "F")


def _sides(given: Any, n: int, dtype: np.dtype[Any], by_rows: bool, overwrite: bool) -> tuple[Matrix, bool]:
    """b as a matrix that a routine may write to, and whether it was a vector."""
    b = _array("b", given, 1, 2)
    if b.shape[0] != n:
        raise ArgumentError(f"b has {b.shape[0]} rows, but a has {n}; give as many")
    matrix = b.reshape(-1, 1) if b.ndim == 1 else b
    return _own(matrix.astype(dtype, copy=False), given, by_rows, overwrite), b.ndim == 1


def _pair(a: Matrix, b: Any) -> np.dtype[Any]:
    """The type in which both are computed, as NumPy has it."""
    return np.result_type(a, _array("b", b, 1, 2))


def _clear_beside(c: Matrix, lower: bool) -> None:
    """Fills the triangle beside the lower one, or beside the upper one, with zeros: line by line as they are
    stored."""
    by_rows = _order(c)
    for i, line in enumerate(c if by_rows else c.T):
        line[i + 1 if lower == by_rows else 0:None if lower == by_rows else i] = 0


# ---- Calls ----


def _request(kind: str, a: Matrix, by_rows: bool, lower: bool, info: Any, **more: Any) -> Any:
    """The fields that tsr_factor and tsr_solve share."""
    return ffi.new(kind, {"type": ord(_LETTERS[a.dtype.char]),
                          "layout": lib.TSR_ROW_MAJOR if by_rows else lib.TSR_COL_MAJOR,
                          "uplo": lib.TSR_LOWER if lower else lib.TSR_UPPER, "n": a.shape[0],
                          "lda": _ld(a, by_rows), "info": info, **more})


def _call(context: Context | None, function: Callable[..., int], what: Any, *matrices: Matrix | None) -> None:
    handle = (context if context is not None else default_context())._handle
    pointers = [ffi.NULL if x is None else ffi.cast("void *", x.ctypes.data) for x in matrices]

    def call(kept: Any = (what, matrices)) -> None:
        handle.check(function(handle.pointer, what, *pointers))
    handle.carry_out(call)


def _solve_with(context: Context | None, routine: int, a: Matrix, b: Matrix | None, by_rows: bool, lower: bool,
                trans: int | None = None, unit: bool = False) -> int:
    """Carries out a solver's routine; LAPACK's info."""
    info = ffi.new("int64_t *")
    columns = {} if b is None else {"nrhs": b.shape[1], "ldb": _ld(b, by_rows)}
    what = _request("tsr_solve *", a, by_rows, lower, info, routine=routine,
                    trans=lib.TSR_NO_TRANS if trans is None else trans,
                    diag=lib.TSR_UNIT if unit else lib.TSR_NON_UNIT, **columns)
    _call(context, lib.tsr_solve_run, what, a, b)
    return int(info[0])


def _solve_beside(context: Context | None, routine: int, given: Any, b: Any, overwrite_b: bool, lower: bool,
                  trans: int | None = None, unit: bool = False) -> tuple[Matrix, int]:
    """The solution with a triangle that is only read, and LAPACK's info."""
    t = _square(given)
    dtype = _pair(t, b)
    t = t.astype(dtype, copy=False)
    by_rows = _order(t)
    if _ld(t, by_rows) is None:
        t = np.array(t, order="F")
    x, vector = _sides(b, t.shape[0], dtype, by_rows, overwrite_b)
    info = _solve_with(context, routine, t, x, by_rows, lower, trans, unit)
    return x[:, 0] if vector else x, info


def _refuse(info: int, definite: bool) -> None:
    if info > 0 and definite:
        raise LinAlgError(f"{info}-th leading minor of the array is not positive definite")
    if info > 0:
        raise LinAlgError(f"singular matrix: element {info - 1} of the diagonal is 0")


def _lower_of(assume_a: str | None) -> bool | None:
    """Of a triangular matrix, which one; None: it is positive definite."""
    if assume_a is not None and assume_a in _KINDS:
        return _KINDS[assume_a]
    raise UnsupportedError(f"assume_a is {assume_a!r}; give 'pos', 'upper triangular' or 'lower triangular': "
                           "general matrices need an LU factorisation, which is not here yet")


def _factored(given: Any, lower: bool, overwrite: bool, context: Context | None) -> tuple[Matrix, bool]:
    """A factor in a matrix that is the caller's, and whether that is by rows."""
    a = _square(given)
    by_rows, info = _order(a), ffi.new("int64_t *")
    c = _own(a, given, by_rows, overwrite)
    what = _request("tsr_factor *", c, by_rows, lower, info, routine=lib.TSR_POTRF)
    _call(context, lib.tsr_factor_run, what, c)
    _refuse(int(info[0]), True)
    return c, by_rows


# ---- Functions ----


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, *,
               context: Context | None = None) -> tuple[Matrix, bool]:
    """The Cholesky factor of a positive definite matrix, and whether it is the lower one, for
    cho_solve. Only that triangle of a is read; the other one of the result has no meaning.
    LinAlgError: a is not positive definite."""
    return _factored(a, bool(lower), overwrite_a, context)[0], bool(lower)


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, *,
             context: Context | None = None) -> Matrix:
    """The Cholesky factor of a positive definite matrix: u with a = u^H u or, with lower, l with
    a = l l^H, and zeros beside it. Only that triangle of a is read. LinAlgError: a is not positive
    definite."""
    c, _ = _factored(a, bool(lower), overwrite_a, context)
    _clear_beside(c, bool(lower))
    return c


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, *,
              context: Context | None = None) -> Matrix:
    """The x of a x = b, from the factor of a that cho_factor or cholesky has made. b is a vector or
    a matrix."""
    c, lower = c_and_lower
    return _solve_beside(context, lib.TSR_POTRS, c, b, overwrite_b, bool(lower))[0]


def solve_triangular(a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
                     overwrite_b: bool = False, *, context: Context | None = None) -> Matrix:
    """The x of a x = b (trans 0 or "N"), a^T x = b (1 or "T") or a^H x = b (2 or "C"). Only the upper
    triangle of a is read, or the lower one with lower, and its diagonal not with unit_diagonal.
    LinAlgError: there is a zero on the diagonal."""
    flags = {0: lib.TSR_NO_TRANS, "N": lib.TSR_NO_TRANS, 1: lib.TSR_TRANS, "T": lib.TSR_TRANS,
             2: lib.TSR_CONJ_TRANS, "C": lib.TSR_CONJ_TRANS}
    if trans not in flags:
        raise ArgumentError(f"trans is {trans!r}; give 0, 1 or 2, or 'N', 'T' or 'C'")
    x, info = _solve_beside(context, lib.TSR_TRTRS, a, b, overwrite_b, bool(lower), flags[trans],
                            bool(unit_diagonal))
    _refuse(info, False)
    return x


def solve(a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
          assume_a: str | None = None, *, context: Context | None = None) -> Matrix:
    """The x of a x = b. assume_a says what a is: "pos" (or "positive definite"), of which the upper
    triangle is read, or the lower one with lower; "upper triangular" or "lower triangular".
    LinAlgError: a is not positive definite, or singular."""
    triangle = _lower_of(assume_a)
    if triangle is not None:
        return solve_triangular(a, b, lower=triangle, overwrite_b=overwrite_b, context=context)
    square = _square(a)
    dtype = _pair(square, b)
    square = square.astype(dtype, copy=False)
    by_rows = _order(square)
    c = _own(square, a, by_rows, overwrite_a)
    x, vector = _sides(b, c.shape[0], dtype, by_rows, overwrite_b)
    _refuse(_solve_with(context, lib.TSR_POSV, c, x, by_rows, bool(lower)), True)
    return x[:, 0] if vector else x


def _reflect(c: Matrix, lower: bool) -> None:
    """Fills the other triangle of a Hermitian matrix."""
    for i in range(1, c.shape[0]):
        if lower:
            c[:i, i] = c[i, :i].conj()
        else:
            c[i, :i] = c[:i, i].conj()


def inv(a: Any, overwrite_a: bool = False, *, assume_a: str | None = None, lower: bool = False,
        context: Context | None = None) -> Matrix:
    """The inverse of a; assume_a and lower as in solve. Of a positive definite a the whole inverse is
    returned, of a triangular one the triangle with zeros beside it."""
    triangle = _lower_of(assume_a)
    if triangle is None:
        c, by_rows = _factored(a, bool(lower), overwrite_a, context)
        _refuse(_solve_with(context, lib.TSR_POTRI, c, None, by_rows, bool(lower)), False)
        _reflect(c, bool(lower))
        return c
    square = _square(a)
    by_rows = _order(square)
    c = _own(square, a, by_rows, overwrite_a)
    _refuse(_solve_with(context, lib.TSR_TRTRI, c, None, by_rows, triangle), False)
    _clear_beside(c, triangle)
    return c


def det(a: Any, overwrite_a: bool = False, *, assume_a: str | None = None, lower: bool = False,
        context: Context | None = None) -> Any:
    """The determinant of a; assume_a and lower as in solve."""
    triangle = _lower_of(assume_a)
    if triangle is not None:
        return np.prod(np.diagonal(_square(a)))
    c, _ = _factored(a, bool(lower), overwrite_a, context)
    return np.prod(np.diagonal(c).real ** 2)
