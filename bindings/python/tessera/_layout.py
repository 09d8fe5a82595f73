# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""From a routine with arrays of any order to one call of the library, which has one order for all
matrices: strides become transpositions, and what they cannot express is copied."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable

from ._library import ArgumentError
from ._matrix import COMPLEX, HALVES, NAMES, Matrix

# From src/blas/routines.def, by tools/routines/write.py.
PRODUCTS = ("gemm", "gemmt")
SIDED = ("symm", "hemm")
RANKS = ("syrk", "herk", "syr2k", "her2k")
TRIANGULAR = ("trmm", "trsm")
WITH_B = ("gemm", "gemmt", "symm", "hemm", "syr2k", "her2k", "trmm", "trsm")
ONE_TRIANGLE = ("gemmt", "syrk", "herk", "syr2k", "her2k")
REAL_ALPHA = ("herk",)
REAL_BETA = ("herk", "her2k")
OF_COMPLEX = ("hemm", "herk", "her2k")
OF_HALVES = ("gemm",)
OPERATIONS = PRODUCTS + SIDED + RANKS + TRIANGULAR

_OTHER = {"L": "U", "U": "L"}


@dataclass(frozen=True)
class Flags:
    """Letters, as the library takes them."""

    side: str = "L"
    uplo: str = "G"
    transa: str = "N"
    transb: str = "N"
    diag: str = "N"


@dataclass
class Call:
    """One call of the library: its matrices, flags and leading dimensions, all in one order."""

    operation: str
    by_rows: bool
    flags: Flags
    m: int
    n: int
    k: int
    operands: dict[str, Matrix]  # a, b where there is one, c
    ld: dict[str, int] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)  # operands to copy first, and why

    @property
    def bytes_to_copy(self) -> int:
        return sum(self.operands[name].bytes for name in self.copies)


# ---- Extents ----


def _op_shape(x: Matrix, trans: str) -> tuple[int, int]:
    return x.shape if trans == "N" else (x.columns, x.rows)


def _counted(number: int, what: str) -> str:
    return f"{number} {what if number != 1 else what[:-1]}"


def _same(one: str, count: int, what: str, other: str, other_count: int, other_what: str) -> None:
    """The matrix `one` has as many rows or columns (what) as the other one has."""
    if count != other_count:
        raise ArgumentError(f"{one} has {_counted(count, what)}, but {other} has "
                            f"{_counted(other_count, other_what)}; give matrices that fit")


def _shown(x: Matrix, trans: str) -> str:
    return x.name if trans == "N" else f"op({x.name})"


_REAL = {"hemm": "symm", "herk": "syrk", "her2k": "syr2k"}


def check_type(operation: str, a: Matrix) -> None:
    """Refuses matrices of a type that the routine does not have."""
    if operation in OF_COMPLEX and a.letter not in COMPLEX:
        raise ArgumentError(f"a has the type {NAMES[a.letter]}, but {operation} is for complex64 and complex128; "
                            f"call {_REAL[operation]} for real matrices")
    if operation not in OF_HALVES and a.letter in HALVES:
        raise ArgumentError(f"a has the type {NAMES[a.letter]}, which {' and '.join(OF_HALVES)} alone has; give "
                            f"float32 to {operation}")


def extents(operation: str, flags: Flags, a: Matrix, b: Matrix | None) -> tuple[int, int, int]:
    """m, n, k of the call, as the library counts them. Refuses matrices that do not fit together.
    B of trmm and trsm is what the result begins as."""
    rows, columns = _op_shape(a, flags.transa)
    if operation in PRODUCTS:
        assert b is not None
        b_rows, b_columns = _op_shape(b, flags.transb)
        names = _shown(a, flags.transa), _shown(b, flags.transb)
        _same(names[0], columns, "columns", names[1], b_rows, "rows")
        if operation == "gemmt":
            _same(names[0], rows, "rows", names[1], b_columns, "columns")
        return rows, b_columns, columns
    if operation in RANKS:
        if b is not None and b.shape != a.shape:
            raise ArgumentError(f"a is {a.rows} x {a.columns}, but b is {b.rows} x {b.columns}; "
                                "give matrices that fit")
        return rows, rows, columns
    assert b is not None
    if a.rows != a.columns:
        raise ArgumentError(f"a is {a.rows} x {a.columns}; give a square matrix")
    count, what = (b.rows, "rows") if flags.side == "L" else (b.columns, "columns")
    _same("a", a.rows, "rows", "b", count, what)
    return b.rows, b.columns, 0


# ---- One order for all ----


def _letters(x: Matrix, by_rows: bool, trans: str, allowed: str) -> dict[str, tuple[int, bool]]:
    """The letters that can name op(x) in this order, each with the leading dimension and whether
    memory holds the transpose."""
    found = {}
    for flipped in (True, False):
        ld = x.leading(by_rows != flipped)
        transposed = (trans != "N") != flipped
        conjugated = ((trans == "C") != x.conjugated) and x.letter in COMPLEX
        # The BLAS has no letter for the conjugate alone.
        letter = "?" if conjugated and not transposed else "C" if conjugated else \
            "T" if transposed else "N"
        if ld is not None and letter in allowed:
            found[letter] = (ld, flipped)
    return found


def _reason(x: Matrix) -> str:
    if x.swapped:
        return "the bytes of its numbers are in the other order than this computer's"
    if not x.aligned:
        return "its elements are not aligned"
    if x.leading(True) is None and x.leading(False) is None:
        return (f"its strides are {x.row_stride} and {x.column_stride} elements, and the BLAS needs "
                "one of them to be 1")
    return "its order does not go with that of the other matrices"


def remedy(x: Matrix) -> str:
    """What to give instead of an array that cannot be taken as it is."""
    if x.swapped:
        return f"{x.name}.astype({x.name}.dtype.newbyteorder('='))"
    return "an array with rows or columns that are contiguous"


def _copy(call: Call, name: str) -> int:
    """Notes that the operand is to be copied into the call's order; its leading dimension then."""
    x = call.operands[name]
    call.copies[name] = _reason(x)
    return max(1, x.columns if call.by_rows else x.rows)


def _plain(call: Call, name: str) -> None:
    """An operand that the routine takes neither transposed nor conjugated."""
    found = _letters(call.operands[name], call.by_rows, "N", "N")
    call.ld[name] = found["N"][0] if found else _copy(call, name)


def _op(call: Call, name: str, trans: str, allowed: str = "NTC") -> tuple[str, bool]:
    """An operand with a letter; which one, and whether memory holds its transpose."""
    found = _letters(call.operands[name], call.by_rows, trans, allowed)
    letter = trans if trans in found or not found else next(iter(found))
    call.ld[name], flipped = found[letter] if found else (_copy(call, name), False)
    return letter, flipped


def _product(call: Call) -> None:
    transa, _ = _op(call, "a", call.flags.transa)
    transb, _ = _op(call, "b", call.flags.transb)
    call.flags = replace(call.flags, transa=transa, transb=transb)


def _sided(call: Call) -> None:
    _plain(call, "b")
    a = call.operands["a"]
    found = _letters(a, call.by_rows, "N", "NT")
    if call.operation == "hemm" and a.letter in COMPLEX:
        found.pop("T", None)  # the transpose of a Hermitian matrix is its conjugate
    if "T" in found and "N" not in found:
        # The transpose of a symmetric matrix is the same matrix, with the other triangle stored.
        call.ld["a"] = found["T"][0]
        call.flags = replace(call.flags, uplo=_OTHER[call.flags.uplo])
    else:
        _plain(call, "a")


def _rank(call: Call) -> None:
    trans, letter = call.flags.transa, call.operands["a"].letter
    allowed = "NTC"
    if letter in COMPLEX:
        allowed = "NC" if call.operation in ("herk", "her2k") else "NT"
    if trans not in allowed:
        raise ArgumentError(f"trans is {trans!r}; {call.operation} of complex matrices takes "
                            + " or ".join(repr(word) for word in allowed))
    inputs = [name for name in ("a", "b") if name in call.operands]
    found = {name: _letters(call.operands[name], call.by_rows, trans, allowed) for name in inputs}
    common = [word for word in found["a"] if all(word in found[name] for name in inputs)]
    chosen = trans if trans in common or not common else common[0]
    for name in inputs:
        call.ld[name] = found[name][chosen][0] if chosen in found[name] else _copy(call, name)
    call.flags = replace(call.flags, transa=chosen)


def _triangle(call: Call) -> None:
    letter, flipped = _op(call, "a", call.flags.transa)
    uplo = _OTHER[call.flags.uplo] if flipped else call.flags.uplo
    call.flags = replace(call.flags, transa=letter, uplo=uplo)


_RESOLVERS: dict[str, Callable[[Call], None]] = {
    **dict.fromkeys(PRODUCTS, _product), **dict.fromkeys(SIDED, _sided),
    **dict.fromkeys(RANKS, _rank), **dict.fromkeys(TRIANGULAR, _triangle)}


def _resolved(operation: str, flags: Flags, mnk: tuple[int, int, int],
              operands: dict[str, Matrix], by_rows: bool) -> Call:
    call = Call(operation, by_rows, flags, *mnk, operands)
    _RESOLVERS[operation](call)
    return call


def in_order_of(c: Matrix, operation: str, flags: Flags, mnk: tuple[int, int, int],
                inputs: dict[str, Matrix]) -> Call:
    """The call whose result is in c. The order that copies least, where c has both."""
    operands = {**inputs, "c": c}
    calls = []
    for by_rows in (True, False):
        ld = c.leading(by_rows)
        if ld is not None:
            call = _resolved(operation, flags, mnk, operands, by_rows)
            call.ld["c"] = ld
            calls.append(call)
    if not calls or (c.conjugated and c.letter in COMPLEX):
        raise ArgumentError(f"{c.name} cannot take the result: "
                            f"{_reason(c) if not calls else 'it stands for its conjugate'}; give "
                            + remedy(c))
    return min(calls, key=lambda call: call.bytes_to_copy)


def best_order(operation: str, flags: Flags, mnk: tuple[int, int, int], inputs: dict[str, Matrix],
               begins: Matrix | None) -> bool:
    """Whether a new result is better row-major (True) than column-major: the order that copies
    less; if both copy as much, that of what it begins as, else row-major."""
    by_rows, by_columns = (_resolved(operation, flags, mnk, inputs, order).bytes_to_copy
                           for order in (True, False))
    if by_rows == by_columns and begins is not None and begins.leading(False) is not None:
        return begins.leading(True) is not None
    return by_rows <= by_columns
