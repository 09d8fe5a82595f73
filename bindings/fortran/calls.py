#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Writes the module tessera_calls: the functions of the C interface that Fortran calls with the same
arguments, from one table. The build runs it. Usage: calls.py FILE"""
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Kind:
    """How an argument is declared in Fortran and in the C interface, and what is passed for it. An answer
    that C gives in another type comes in a variable that is `local` and begins as `start`; `answer` is what
    Fortran gets."""
    fortran: str
    c: str
    passed: str = "{}"
    local: str = ""
    start: str = ""
    answer: str = ""


def same(declaration):
    return Kind(declaration, declaration)


def made(of):
    """A handle that the call makes."""
    return Kind(f"type(tsr_{of}), intent(out)", "type(c_ptr), intent(out)", "{}%handle")


def handle(of):
    return Kind(f"type(tsr_{of}), intent(in)", "type(c_ptr), value", "{}%handle")


def converted(fortran, c, start, answer):
    return Kind(f"{fortran}, intent(out)", f"{c}, intent(out)", "{}", c, start, answer)


KINDS = {
    "t": handle("context"),
    "plan": handle("plan"),
    "capture": handle("capture"),
    "new plan": made("plan"),
    "new capture": made("capture"),
    "address": Kind("type(c_ptr), intent(in)", "type(c_ptr), value"),
    "new address": Kind("type(c_ptr), intent(out)", "type(c_ptr), intent(out)", start="c_null_ptr"),
    "device": Kind("integer, intent(in)", "integer(c_int), value", "int({}, c_int)"),
    "bytes": Kind("integer(int64), intent(in)", "integer(c_size_t), value", "int({}, c_size_t)"),
    "form": Kind("integer(c_int), intent(in)", "integer(c_int), value"),
    "seconds": Kind("real(real64), intent(in)", "real(c_double), value"),
    "name": Kind("character(*), intent(in)", "character(kind=c_char), dimension(*), intent(in)", "tsr_c_string({})"),
    "what": same("type(tsr_level3), intent(in)"),
    "event": same("type(tsr_event), intent(in)"),
    "new event": same("type(tsr_event), intent(out)"),
    "home": same("type(tsr_home), intent(out)"),
    "traffic": same("type(tsr_traffic), intent(out)"),
    "size": converted("integer(int64)", "integer(c_size_t)", "0", "int({}, int64)"),
    "number": converted("integer", "integer(c_int)", "-1", "int({})"),
    "truth": converted("logical", "integer(c_int)", "0", "{} /= 0"),
    "text": converted("character(:), allocatable", "type(c_ptr)", "c_null_ptr", "tsr_text_taken({})"),
}


@dataclass(frozen=True)
class Call:
    """A function of the C interface, and its arguments: a name, which is also its kind, or name=kind."""
    name: str
    arguments: tuple
    comment: str = ""

    @property
    def kinds(self):
        pairs = (argument.partition("=") for argument in self.arguments)
        return {name: KINDS[kind or name] for name, _, kind in pairs}

    @property
    def names(self):
        return ", ".join(self.kinds)


OPERANDS = tuple(f"{name}=address" for name in ("alpha", "a", "b", "beta", "c"))
MALLOC = Call("malloc", ("t", "device", "bytes", "memory=new address"),
              "Memory of a device (0, 1, ...), or pinned host memory (TSR_HOST), of so many bytes.")
RUN = Call("level3_run", ("t", "what") + OPERANDS, """\
A routine that is chosen at run time, on any memory: a, b and c are addresses, also of a device's
memory. alpha and beta are addresses of what the routine takes. See tsr_level3_run in tessera.h.""")
RUN_ASYNC = Call("level3_run_async", RUN.arguments)

SECTIONS = (
    ("Contexts", (
        Call("sync", ("t",)),
        Call("sync_home", ("t",), "As tsr_sync, and brings the results of all asynchronous calls to host memory."),
        Call("trim", ("t",)),
        Call("set_budget", ("t", "device", "bytes"), "Devices are numbered from 0, as in all interfaces of Tessera."),
        Call("get_budget", ("t", "device", "bytes=size")),
        Call("set_stream", ("t", "device", "stream=address")),
        Call("set_arithmetic", ("t", "arithmetic=name")),
    )),
    ("Events", (
        Call("event_record", ("t", "event=new event")),
        Call("event_query", ("t", "event", "complete=truth")),
        Call("event_wait", ("t", "event")),
    )),
    ("The cost of sequences", (
        Call("context_traffic", ("t", "traffic")),
        Call("timeline_begin", ("t",)),
        Call("timeline_note", ("t", "name", "seconds")),
        Call("timeline_end", ("t", "text")),
    )),
    ("Devices and memory", (
        Call("device_number", ("t", "device", "number"),
             "The number that the engine, for instance CUDA, gives to a device (0, 1, ...) of the context."),
        Call("home_find", ("t", "memory=address", "bytes", "home"), "Where bytes of memory are."),
        Call("memcpy", ("t", "to=address", "from=address", "bytes"),
             "Copies bytes between any two places, host or device."),
        MALLOC,
    )),
    ("Machines", (
        Call("machine_list", ("text",), "The installed machines, whose names the option machine takes, one a line."),
        Call("machine_print", ("t", "form", "text")),
    )),
    ("Routines", (RUN, RUN_ASYNC)),
    ("Plans", (
        Call("plan_last", ("t", "plan=new plan")),
        Call("plan_print", ("plan", "form", "text"), "form is TSR_TEXT, TSR_JSON and so on."),
        Call("plan_execute", ("plan",) + OPERANDS, "Runs a plan. The arguments are those of tsr_level3_run."),
    )),
    ("Captures", (
        Call("capture_begin", ("t",)),
        Call("capture_end", ("t", "capture=new capture")),
        Call("capture_run_async", ("capture",)),
        Call("capture_move", ("capture", "from=address", "bytes", "to=address"),
             "In later runs what began in the bytes behind from begins as far behind to."),
        Call("capture_print", ("capture", "form", "text"), "form is TSR_TEXT, TSR_JSON or TSR_COMMANDS."),
    )),
)

# The objects whose handles a subroutine ends, and how a subroutine names each.
OBJECTS = {"context": "t", "plan": "plan", "capture": "capture"}

HEAD = """! Made by bindings/fortran/calls.py: change that program, not this file.
!
! Functions that Fortran calls as C does: tessera.h is the manual. stat and errmsg are optional, as
! everywhere.
module tessera_calls
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use tessera_base
  use tessera_contexts, only: tsr_event, tsr_home, tsr_traffic
  implicit none
  private

"""

DESTROY_INTERFACE = """    subroutine c_{object}_destroy({name}) bind(C, name='tsr_{object}_destroy')
      import
      type(c_ptr), value :: {name}
    end subroutine
"""

DESTROY = """  subroutine tsr_{object}_destroy({name})
    type(tsr_{object}), intent(inout) :: {name}
    call c_{object}_destroy({name}%handle)
    {name}%handle = c_null_ptr
  end subroutine

"""

# The last arguments of every subroutine whose call can fail.
ENDS = ("    integer, intent(out), optional :: stat\n"
        "    character(*), intent(inout), optional :: errmsg\n")


def wrap(line, indent="      "):
    """The line in pieces of at most 100 characters."""
    lines = []
    while len(line) > 100:
        cut = line.rfind(", ", 0, 98) + 1
        lines.append(line[:cut] + " &")
        line = indent + line[cut + 1:]
    return "\n".join(lines + [line]) + "\n"


def interface(call):
    """Declares the C function, as c_ and its name."""
    text = wrap(f"    function c_{call.name}({call.names}) bind(C, name='tsr_{call.name}') result(status)")
    text += "      import\n"
    for name, kind in call.kinds.items():
        text += f"      {kind.c} :: {name}\n"
    return text + "      integer(c_int) :: status\n    end function\n"


def subroutine(call):
    answers = {name: kind for name, kind in call.kinds.items() if kind.local}
    text = "".join(f"  ! {line}\n" for line in call.comment.splitlines())
    text += wrap(f"  subroutine tsr_{call.name}({call.names}, stat, errmsg)")
    text += "".join(f"    {kind.fortran} :: {name}\n" for name, kind in call.kinds.items()) + ENDS
    if answers:
        text += "    integer(c_int) :: status\n"
    text += "".join(f"    {kind.local} :: given_{name}\n" for name, kind in answers.items())
    for name, kind in call.kinds.items():
        if kind.start:
            text += f"    {'given_' if kind.local else ''}{name} = {kind.start}\n"
    passed = ", ".join(kind.passed.format(f"given_{name}" if kind.local else name) for name, kind in call.kinds.items())
    if not answers:
        text += wrap(f"    call tsr_finish(c_{call.name}({passed}), stat, errmsg)")
    else:
        text += wrap(f"    status = c_{call.name}({passed})")
        text += "".join(f"    {name} = {kind.answer.format(f'given_{name}')}\n" for name, kind in answers.items())
        text += "    call tsr_finish(status, stat, errmsg)\n"
    return text + "  end subroutine\n\n"


def module():
    calls = [call for _, section in SECTIONS for call in section]
    names = [f"tsr_{call.name}" for call in calls] + [f"tsr_{of}_destroy" for of in OBJECTS]
    publics = "".join(f"  public :: {name}\n" for name in names)
    interfaces = "".join(map(interface, calls))
    bodies = ""
    for title, section in SECTIONS:
        bodies += f"  ! ---- {title} ----\n\n" + "".join(map(subroutine, section))
    for of, name in OBJECTS.items():
        interfaces += DESTROY_INTERFACE.format(object=of, name=name)
        bodies += DESTROY.format(object=of, name=name)
    return HEAD + publics + "\n  interface\n" + interfaces + "  end interface\n\ncontains\n\n" + bodies + "end module\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(module())
