#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Writes the module tessera_memory: memory of the library's own, and regions of composed calls, generic
over the types of the BLAS. The build runs it. Usage: memory.py FILE"""
import sys
from pathlib import Path

from calls import MALLOC, Call, interface
from routines import DISTANCE, LAYOUT, REFUSE, TYPES

HEAD = """! Made by bindings/fortran/memory.py: change that program, not this file.
!
! Arrays in memory that is fast to copy, and what programs say of regions that asynchronous calls use
! ("Composition" in tessera.h). A region is an array of rank 2, which may be a section of a larger one.
! stat and errmsg are optional, as everywhere.
module tessera_memory
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use tessera_base
  implicit none
  private

  integer(c_int), parameter, public :: TSR_HOST = -1
  public :: tsr_free
"""

INTERFACES = "\n  interface\n" + interface(MALLOC) + """\
    subroutine c_free(context, pointer) bind(C, name='tsr_free')
      import :: c_ptr
      type(c_ptr), value :: context, pointer
    end subroutine
""" + interface(Call("register", ("t", "pointer=address", "bytes"))) + \
    interface(Call("unregister", ("t", "pointer=address"))) + REFUSE

# Functions of the C interface that take a region: name, whether a triangle can be named, arguments before
# the region, arguments behind it (name, C type).
REGIONS = (
    ("coherent", True, ()),
    ("coherent_async", True, ()),
    ("invalidate", False, ()),
    ("release", False, ()),
    ("map_1d_block_cyclic", False, ("nb",)),
    ("map_2d_block_cyclic", False, ("mb", "nb", "p", "q")),
    ("map_block_cyclic", False, ("mb", "nb", "p", "q", "first")),
    ("distribute_1d_block_cyclic_async", False, ("nb",)),
    ("distribute_2d_block_cyclic_async", False, ("mb", "nb", "p", "q")),
    ("distribute_block_cyclic_async", False, ("mb", "nb", "p", "q", "first")),
    ("put_async", False, ("device",)),
)
INTS = {"p": "c_int", "q": "c_int", "first": "c_int", "device": "c_int"}


def region_interface(name, triangle, behind):
    uplo = "uplo, " if triangle else ""
    tail = "".join(f", {argument}" for argument in behind)
    text = (f"    function c_{name}(context, {uplo}m, n, c, ldc, type{tail}) &\n"
            f"      bind(C, name='tsr_{name}') result(status)\n"
            "      import :: c_int, c_int64_t, c_ptr\n"
            "      type(c_ptr), value :: context, c\n"
            f"      integer(c_int), value :: {uplo}type\n"
            "      integer(c_int64_t), value :: m, n, ldc\n")
    for argument in behind:
        text += f"      integer({INTS.get(argument, 'c_int64_t')}), value :: {argument}\n"
    return text + "      integer(c_int) :: status\n    end function\n"


def region(name, triangle, behind, letter):
    tail = "".join(f", {argument}" for argument in behind)
    optional = ", uplo" if triangle else ""
    text = f"  subroutine {name}_{letter}(t, c{tail}{optional}, stat, errmsg)\n"
    text += "    type(tsr_context), intent(in) :: t\n"
    text += f"    {TYPES[letter][0]}, intent(in), target :: c(:, :)\n"
    for argument in behind:
        text += f"    integer, intent(in) :: {argument}\n"
    if triangle:
        text += "    character(*), intent(in), optional :: uplo\n"
    text += ("    integer, intent(out), optional :: stat\n"
             "    character(*), intent(inout), optional :: errmsg\n"
             "    type(c_ptr) :: address\n    integer(c_int64_t) :: ld\n    integer(c_int) :: status\n")
    if triangle:
        text += ("    integer(c_int) :: part\n    part = iachar('G')\n"
                 "    if (present(uplo)) part = tsr_flag(uplo)\n")
    part = "part, " if triangle else ""
    passed = "".join(f", &\n      int({a}, {INTS.get(a, 'c_int64_t')})" for a in behind)
    text += ("    status = TSR_OK\n"
             f"    call layout_{letter}('c', c, address, ld, status)\n"
             f"    if (status == TSR_OK) status = c_{name}(t%handle, {part}size(c, 1, c_int64_t), &\n"
             f"      size(c, 2, c_int64_t), address, ld, int(iachar('{letter}'), c_int){passed})\n"
             "    call tsr_finish(status, stat, errmsg)\n")
    return text + "  end subroutine\n\n"


ALLOCATE = """  subroutine allocate_{t}{rank}(t, x, {extents}, stat, errmsg)
    type(tsr_context), intent(in) :: t
    {type}, pointer, intent(out) :: x({colons})
    integer, intent(in) :: {extents}
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: memory
    integer(c_int) :: status
    integer(c_size_t) :: bytes
    nullify (x)
    bytes = {count}*(storage_size({unit}, c_size_t)/8)
    status = c_malloc(t%handle, TSR_HOST, max(bytes, 1_c_size_t), memory)
    if (status == TSR_OK) call c_f_pointer(memory, x, [{shape}])
    call tsr_finish(status, stat, errmsg)
  end subroutine

  subroutine deallocate_{t}{rank}(t, x)
    type(tsr_context), intent(in) :: t
    {type}, pointer, intent(inout) :: x({colons})
    if (associated(x)) call c_free(t%handle, c_loc(x))
    nullify (x)
  end subroutine

"""

REGISTER = """  ! Pins an array in place. It must be contiguous, and stay allocated until tsr_unregister.
  subroutine register_{t}(t, x, stat, errmsg)
    type(tsr_context), intent(in) :: t
    {type}, intent(in), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_size_t) :: bytes
    bytes = size(x, kind=c_size_t)*(storage_size({unit}, c_size_t)/8)
    call tsr_finish(c_register(t%handle, c_loc(x), bytes), stat, errmsg)
  end subroutine

  subroutine unregister_{t}(t, x, stat, errmsg)
    type(tsr_context), intent(in) :: t
    {type}, intent(in), target, contiguous :: x(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call tsr_finish(c_unregister(t%handle, c_loc(x)), stat, errmsg)
  end subroutine

"""

PLAIN = """  subroutine tsr_free(t, memory)
    type(tsr_context), intent(in) :: t
    type(c_ptr), intent(in) :: memory
    call c_free(t%handle, memory)
  end subroutine

"""


def generic(name, members):
    lines, line = [], "    module procedure "
    for member in members:
        if len(line) > 76:
            lines.append(line + "&")
            line = "      "
        line += member + ", "
    lines.append(line.rstrip(", "))
    return f"  public :: {name}\n  interface {name}\n" + "\n".join(lines) + "\n  end interface\n"


def unit(letter):
    kind = TYPES[letter]
    return kind[2] if kind[0] == kind[1] else f"({kind[2]}, {kind[3]})"


def module():
    generics = generic("tsr_allocate", [f"allocate_{t}{rank}" for t in TYPES for rank in "12"])
    generics += generic("tsr_deallocate", [f"deallocate_{t}{rank}" for t in TYPES for rank in "12"])
    generics += generic("tsr_register", [f"register_{t}" for t in TYPES])
    generics += generic("tsr_unregister", [f"unregister_{t}" for t in TYPES])
    interfaces, bodies = INTERFACES, PLAIN
    for name, triangle, behind in REGIONS:
        generics += generic(f"tsr_{name}", [f"{name}_{t}" for t in TYPES])
        interfaces += region_interface(name, triangle, behind)
        bodies += "".join(region(name, triangle, behind, t) for t in TYPES)
    for t in TYPES:
        for rank, extents, count in ((1, "n", "int(n, c_size_t)"), (2, "m, n", "int(m, c_size_t)*n")):
            bodies += ALLOCATE.format(t=t, rank=rank, extents=extents, type=TYPES[t][0], unit=unit(t), count=count,
                                      shape=extents, colons=", ".join(":" * rank))
        bodies += REGISTER.format(t=t, type=TYPES[t][0], unit=unit(t))
        bodies += LAYOUT.format(t=t, type=TYPES[t][0], unit=unit(t))
    return (HEAD + "\n" + generics + interfaces + "  end interface\n\ncontains\n\n" + bodies + DISTANCE +
            "end module\n")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(module())
