#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Writes the module tessera_routines: the generic routines of level 3, in two forms for each type, from
the table of routines (src/blas/routines.def). The build runs it. Usage: routines.py FILE"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/routines"))
import table
from calls import ENDS, RUN, RUN_ASYNC, interface, wrap

TYPES = {
    "s": ("real(real32)", "real(real32)", "1.0_real32", "0.0_real32"),
    "d": ("real(real64)", "real(real64)", "1.0_real64", "0.0_real64"),
    "c": ("complex(real32)", "real(real32)", "1.0_real32", "0.0_real32"),
    "z": ("complex(real64)", "real(real64)", "1.0_real64", "0.0_real64"),
}


# The flags' values where the array form is not given them.
DEFAULTS = {"transa": "N", "transb": "N", "trans": "N", "side": "L", "uplo": "L", "diag": "N"}

HEAD = """! Made by bindings/fortran/routines.py: change that program, not this file.
!
! The routines of level 3, generic over the types of the BLAS. Each comes in two forms:
!
!   call tsr_gemm(t, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
!     has the BLAS's arguments behind the context. a, b and c are arrays of any rank, or their first
!     elements. Extents and leading dimensions are all of the default kind, or all integer(int64).
!   call tsr_gemm(t, a, b, c)
!     takes the extents from arrays of rank 2, which may be sections: elements of a column must be
!     next to one another. Flags, alpha (1) and beta (0) are optional: transa='T', beta=1d0.
!
! In both, stat and errmsg are optional and mean what they mean in Fortran's allocate statement: without
! stat a failure stops the program with the library's message. arithmetic, optional too, says how this call
! is computed, as tsr_context_create's argument does; without it the context says it. The names that end with _async return once
! the call is submitted: the matrices must have the target attribute and stay as they are until tsr_sync,
! and a result is in host memory after tsr_coherent (docs/explain/composition.md).
module tessera_routines
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use tessera_base
  implicit none
  private

"""

# Says that elements of a column are not next to one another (errors.c).
REFUSE = """    function c_refuse(what, stride) bind(C, name='tsr_fortran_refuse') result(status)
      import :: c_char, c_int, c_int64_t
      character(kind=c_char), intent(in) :: what(*)
      integer(c_int64_t), value :: stride
      integer(c_int) :: status
    end function
"""

MIDDLE = "\n  interface\n" + interface(RUN) + interface(RUN_ASYNC) + REFUSE + "  end interface\n\ncontains\n\n"

# The layout of an array of rank 2: the address of its first element, and its leading dimension, which is
# the distance of two columns. status says when elements of a column are not next to one another.
LAYOUT = """  subroutine layout_{t}(name, x, address, ld, status)
    character(*), intent(in) :: name
    {type}, intent(in), target :: x(:, :)
    type(c_ptr), intent(out) :: address
    integer(c_int64_t), intent(out) :: ld
    integer(c_int), intent(inout) :: status
    integer(int64), parameter :: bytes = storage_size({unit}, int64)/8
    integer(c_int64_t) :: step
    address = c_null_ptr
    ld = max(1_int64, size(x, 1, int64))
    if (size(x, kind=int64) == 0) return
    address = c_loc(x(1, 1))
    if (size(x, 2) > 1) ld = distance(c_loc(x(1, 1)), c_loc(x(1, 2)))/bytes
    step = 1
    if (size(x, 1) > 1) step = distance(c_loc(x(1, 1)), c_loc(x(2, 1)))/bytes
    if (status == TSR_OK .and. step /= 1) status = c_refuse(tsr_c_string(name), step)
  end subroutine

"""

DISTANCE = """  ! Bytes from one address to another.
  pure function distance(from, to) result(bytes)
    type(c_ptr), intent(in) :: from, to
    integer(c_intptr_t) :: bytes
    bytes = transfer(to, bytes) - transfer(from, bytes)
  end function

"""

TAIL = "end module\n"


def scalars(routine, letter):
    """Type, value of one and of zero, of alpha and beta."""
    element, real, _, _ = TYPES[letter]
    kind = real[real.index("(") + 1:-1]
    alpha = real if routine.alpha == "REAL" else element
    beta = real if routine.beta == "REAL" else element

    def value(of, number):
        return f"({number}_{kind}, 0.0_{kind})" if of.startswith("complex") else f"{number}_{kind}"

    return (alpha, value(alpha, "1.0")), (beta, value(beta, "0.0"))


def in_fortran(text):
    return text.replace("^", "**").replace("conj(", "conjg(")


def field(flag):
    return "transa" if flag == "trans" else flag


# The last arguments of every routine.
LAST = "stat, errmsg, arithmetic"
ARITHMETIC = ("    character(*), intent(in), optional :: arithmetic\n"
              "    character(kind=c_char), allocatable, target :: word(:)\n")
SET_ARITHMETIC = """    if (present(arithmetic)) then
      word = tsr_c_string(arithmetic)
      what%arithmetic = c_loc(word)
    end if
"""


def level3(routine, letter, flags, extents, lds):
    pairs = [f"operation=TSR_OP_{routine.name.upper()}", f"type=iachar('{letter}')"]
    pairs += [f"{field(flag)}=tsr_flag({flags[flag]})" for flag in routine.flags]
    pairs += [f"{extent}={extents[extent]}" for extent in extents]
    pairs += [f"{name}={value}" for name, value in lds.items()]
    return wrap(f"    what = tsr_level3({', '.join(pairs)})") + SET_ARITHMETIC


def run(routine, suffix, addresses, beta):
    b = addresses["b"] if routine.operands == "abc" else "c_null_ptr"
    result = addresses[routine.result]
    return (f"c_level3_run{suffix}(t%handle, what, c_loc({'factor' if beta == 'addend' else 'alpha'}), "
            f"{addresses['a']}, {b}, {f'c_loc({beta})' if routine.has_beta else 'c_null_ptr'}, {result})")


def intent(routine, operand, suffix):
    if operand == routine.result:
        return "intent(inout)"
    return "intent(in)"


# The BLAS's form has extents and leading dimensions of either kind; what the name of a procedure gets.
INTEGERS = {"": "integer", "_64": "integer(int64)"}


def blas_form(routine, letter, suffix, width):
    element = TYPES[letter][0]
    (alpha, _), (beta, _) = scalars(routine, letter)
    arguments = list(routine.flags) + list(routine.extents) + ["alpha"]
    for operand in routine.operands:
        if operand == "c":
            arguments.append("beta")
        arguments += [operand, f"ld{operand}"]
    name = f"{routine.name}_{letter}{width}{suffix}"
    # In the struct, C of trmm and trsm is their B.
    lds = {f"ld{'c' if o == routine.result else o}": f"int(ld{o}, c_int64_t)" for o in routine.operands}
    extents = {extent: f"int({extent}, c_int64_t)" for extent in routine.extents}
    text = wrap(f"  subroutine {name}(t, {', '.join(arguments)}, {LAST})")
    text += "    type(tsr_context), intent(in) :: t\n"
    text += f"    character(*), intent(in) :: {', '.join(routine.flags)}\n"
    text += f"    {INTEGERS[width]}, intent(in) :: " + ", ".join(
        list(routine.extents) + [f"ld{o}" for o in routine.operands]) + "\n"
    text += f"    {alpha}, intent(in), target :: alpha\n"
    if routine.has_beta:
        text += f"    {beta}, intent(in), target :: beta\n"
    for operand in routine.operands:
        text += f"    {element}, {intent(routine, operand, suffix)}, target :: {operand}(..)\n"
    text += ENDS + ARITHMETIC + "    type(tsr_level3) :: what\n"
    text += level3(routine, letter, {flag: flag for flag in routine.flags}, extents, lds)
    addresses = {o: f"c_loc({o})" for o in routine.operands}
    text += wrap(f"    call tsr_finish({run(routine, suffix, addresses, 'beta')}, stat, errmsg)")
    return text + "  end subroutine\n\n"


def array_extents(routine):
    """Where the array form takes each extent from."""
    extents = {}
    for extent in routine.extents:
        if extent == "m":
            extents["m"] = f"size({routine.result}, 1, c_int64_t)"
        elif extent == "n":
            extents["n"] = f"size({routine.result}, 2, c_int64_t)"
        else:
            flag = "transa_" if "transa" in routine.flags else "trans_"
            extents["k"] = f"size(a, merge(2, 1, tsr_flag({flag}) == tsr_flag('N') .or. " \
                f"tsr_flag({flag}) == tsr_flag('n')), c_int64_t)"
    return extents


def shape_checks(routine):
    """The extents that the arrays must have: name, rows and columns of op(array), flag of op."""
    order = "merge(what%m, what%n, is_left(side_))" if "side" in routine.flags else "what%n"
    values = {"m": "what%m" if "m" in routine.extents else "what%n", "n": "what%n",
              "k": "what%k" if "k" in routine.extents else order}
    names = {argument.field: argument.name for argument in routine.of_kind("FLAG")}
    checks = []
    for matrix in routine.matrices:
        rows, cols, op = matrix.rest
        if matrix.kind == "INPUT" or routine.has_triangle:
            checks.append((matrix.name, values[rows], values[cols], f"{names[op]}_" if op != "NONE" else None))
    return checks


def array_form(routine, letter, suffix):
    element = TYPES[letter][0]
    (alpha, one), (beta, zero) = scalars(routine, letter)
    options = [f for f in routine.flags] + ["alpha"] + (["beta"] if routine.has_beta else [])
    name = f"{routine.name}_array_{letter}{suffix}"
    text = wrap(f"  subroutine {name}(t, {', '.join(routine.operands)}, {', '.join(options)}, {LAST})")
    text += "    type(tsr_context), intent(in) :: t\n"
    for operand in routine.operands:
        text += f"    {element}, {intent(routine, operand, suffix)}, target :: {operand}(:, :)\n"
    text += f"    character(*), intent(in), optional :: {', '.join(routine.flags)}\n"
    text += f"    {alpha}, intent(in), optional :: alpha\n"
    if routine.has_beta:
        text += f"    {beta}, intent(in), optional :: beta\n"
    text += ENDS + ARITHMETIC
    text += f"    {alpha}, target :: factor\n"
    if routine.has_beta:
        text += f"    {beta}, target :: addend\n"
    text += f"    character :: {', '.join(f + '_' for f in routine.flags)}\n"
    text += "    type(tsr_level3) :: what\n"
    text += f"    type(c_ptr) :: {', '.join('p' + o for o in routine.operands)}\n"
    text += "    integer(c_int) :: status\n"
    for flag in routine.flags:
        text += f"    {flag}_ = '{DEFAULTS[flag]}'\n    if (present({flag})) {flag}_ = {flag}\n"
    text += f"    factor = {one}\n    if (present(alpha)) factor = alpha\n"
    if routine.has_beta:
        text += f"    addend = {zero}\n    if (present(beta)) addend = beta\n"
    text += level3(routine, letter, {flag: flag + "_" for flag in routine.flags}, array_extents(routine), {})
    text += "    status = TSR_OK\n"
    for operand in routine.operands:
        ld = "c" if operand == routine.result else operand
        text += f"    call layout_{letter}('{operand}', {operand}, p{operand}, what%ld{ld}, status)\n"
    for operand, rows, cols, flag in shape_checks(routine):
        turned = f"is_turned({flag})" if flag else ".false."
        text += wrap(f"    call check_shape('{operand}', shape({operand}, c_int64_t), {rows}, {cols}, {turned}, "
                     "status)")
    addresses = {o: f"p{o}" for o in routine.operands}
    text += wrap(f"    if (status == TSR_OK) status = {run(routine, suffix, addresses, 'addend')}"
                 .replace("c_loc(alpha)", "c_loc(factor)"))
    text += "    call tsr_finish(status, stat, errmsg)\n"
    return text + "  end subroutine\n\n"


CHECKS = """  elemental logical function is_left(side)
    character, intent(in) :: side
    is_left = side == 'L' .or. side == 'l'
  end function

  elemental logical function is_turned(trans)
    character, intent(in) :: trans
    is_turned = .not. (trans == 'N' .or. trans == 'n')
  end function

  ! Refuses an array whose extents are not rows x cols, or cols x rows where it is turned.
  subroutine check_shape(name, extents, rows, cols, turned, status)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: extents(2), rows, cols
    logical, intent(in) :: turned
    integer(c_int), intent(inout) :: status
    integer(c_int64_t) :: wanted(2)
    interface
      function c_refuse_shape(name, rows, cols, wanted_rows, wanted_cols) &
        bind(C, name='tsr_fortran_refuse_shape') result(status)
        import :: c_char, c_int, c_int64_t
        character(kind=c_char), intent(in) :: name(*)
        integer(c_int64_t), value :: rows, cols, wanted_rows, wanted_cols
        integer(c_int) :: status
      end function
    end interface
    wanted = [rows, cols]
    if (turned) wanted = [cols, rows]
    if (status /= TSR_OK .or. all(extents == wanted)) return
    status = c_refuse_shape(tsr_c_string(name), extents(1), extents(2), wanted(1), wanted(2))
  end subroutine

"""


def module():
    generics, bodies = "", ""
    for routine in table.read():
        for suffix in ("", "_async"):
            forms = [f"_{letter}{width}" for letter in routine.blas_types for width in INTEGERS]
            forms += [f"_array_{letter}" for letter in routine.blas_types]
            names = [f"{routine.name}{form}{suffix}" for form in forms]
            generics += wrap(f"  public :: tsr_{routine.name}{suffix}")
            generics += f"  interface tsr_{routine.name}{suffix} ! {in_fortran(routine.text)}\n"
            generics += wrap(f"    module procedure {', '.join(names)}") + "  end interface\n"
            for letter in routine.blas_types:
                bodies += "".join(blas_form(routine, letter, suffix, width) for width in INTEGERS)
                bodies += array_form(routine, letter, suffix)
    layouts = "".join(LAYOUT.format(t=t, type=kind[0], unit=kind[2] if kind[0] == kind[1] else f"({kind[2]}, {kind[3]})")
                      for t, kind in TYPES.items())
    return HEAD + generics + MIDDLE + bodies + layouts + DISTANCE + CHECKS + TAIL


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(module())
