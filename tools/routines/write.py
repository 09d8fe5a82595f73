#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Writes the declarations of the routines that users read, from the table of routines
(src/blas/routines.def): in include/tessera.h and in the bindings for C++, Python and Fortran.
Usage: write.py [--update]; without --update it says which files differ from the table, and fails.

The comments of tessera.h and the texts of Python's methods are the files' own. A new routine needs its comment and
any declaration behind it, such as "TSR_API tsr_status tsr_symm();", or "def symm(self) -> R:" with its text;
--update makes the declaration the table's. Without clang-format the layout is left to `make format`."""
import re
import shutil
import subprocess
import sys
import textwrap

import table
from table import ROOT

HEADER = ROOT / "include/tessera.h"
CPP = ROOT / "bindings/cpp/tessera/routines.hpp"
PYTHON = ROOT / "bindings/python/tessera"


def replaced(text, pattern, made, what):
    """The text with what the pattern finds replaced. The layout of C and C++ is not the table's, but clang-format's:
    what differs in blanks alone stays."""
    found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
    if found is None:
        sys.exit(f"{what}: not found: write its comment, and a declaration behind it (see write.py)")
    if re.sub(r"[\s\\]+", "", found[0]) == re.sub(r"[\s\\]+", "", made):
        return text
    return text[:found.start()] + made + text[found.end():]


# ---- C ----

def c_parameters(routine, scalars, matrix):
    """Of an interface: scalars are the types of alpha and beta, matrix the type of elements."""
    out = []
    for x in routine.arguments:
        if x.kind == "FLAG":
            out.append(f"tsr_{x.rest[0]} {x.name}")
        elif x.kind == "EXTENT":
            out.append(f"int64_t {x.name}")
        elif x.kind == "SCALAR":
            out.append(f"{scalars[x.name]}{x.name}")
        else:
            out += [f"{'const ' if x.kind == 'INPUT' else ''}{matrix} *{x.name}", f"int64_t ld{x.name}"]
    return out


def prototype(routine, suffix):
    scalars = {"alpha": "const void *", "beta": "const void *"}
    parameters = ["tsr_context *context", "tsr_type type", "tsr_layout layout", *c_parameters(routine, scalars, "void")]
    return f"TSR_API tsr_status tsr_{routine.name}{suffix}({', '.join(parameters)});"


def typed_macro(routines):
    """The macro of the arguments that these routines have, and a row for each type of each."""
    first = routines[0]
    differ = any(routine.has_beta and routine.beta != routine.alpha for routine in routines)
    beta = "beta_scalar" if differ else "scalar"
    parameters = ", ".join(c_parameters(first, {"alpha": "scalar ", "beta": f"{beta} "}, "element"))
    names = ["name", "scalar", *(["beta_scalar"] if differ else []), "element"]
    out = [f"#define TSR_TYPED_{first.signature}({', '.join(names)}) "
           f"TSR_TYPED(name, (tsr_context *context, tsr_layout layout, {parameters}))"]
    given = {"s": "float", "d": "double", "c": "const void *", "z": "const void *"}
    real = {**given, "c": "float", "z": "double"}
    elements = {"s": "float", "d": "double", "c": "void", "z": "void"}
    for routine in routines:
        for letter in routine.blas_types:
            scalars = [(real if how == "REAL" else given)[letter]
                       for how in (routine.alpha, *([routine.beta] if differ else []))]
            words = [f"tsr_{letter}{routine.name}", *scalars, elements[letter]]
            out.append(f"TSR_TYPED_{first.signature}({', '.join(words)})")
    return "\n".join(out)


def by_signature(routines):
    groups = {}
    for routine in routines:
        groups.setdefault(routine.signature, []).append(routine)
    return groups


def header(text, routines):
    for routine in routines:
        for suffix in ("", "_async"):
            name = f"tsr_{routine.name}{suffix}"
            text = replaced(text, rf"^TSR_API tsr_status {name}\([^;]*;", prototype(routine, suffix), name)
    values = re.search(r"typedef enum tsr_operation \{.*?\}", text, re.DOTALL)[0]
    named = re.findall(r"^  TSR_(\w+), +/\*.*\*/$", values, re.MULTILINE)
    if named != [routine.operation for routine in routines]:
        sys.exit(f"tsr_operation: give it the routines of {table.TABLE.name}, in their order")
    groups = by_signature(routines)
    typed = "\n\n".join(typed_macro(group) for group in groups.values())
    ends = "".join(f"#undef TSR_TYPED_{signature}\n" for signature in groups)
    return replaced(text, r"^#define TSR_TYPED_.*^#undef TSR_TYPED_\w+\n", f"{typed}\n\n#undef TSR_TYPED\n{ends}",
                    "the types spelled out")


# ---- C++ ----

def cpp_scalar(routine, how):
    of = "real_of" if how == "REAL" else "scalar_of"
    return f"detail::{of}<{routine.result.upper()}>"


def templates(routine):
    return f"template <{', '.join(f'class {x.name.upper()}' for x in routine.matrices)}>"


def cpp_signature(routine):
    """The function that makes the call of a signature: it takes the extents from the matrices, and refuses matrices
    that do not fit together."""
    result, matrices = routine.result, routine.matrices
    parameters = [f"tsr_{x.rest[0]} {x.name}" for x in routine.of_kind("FLAG")]
    parameters += [f"{'const ' if x.kind == 'INPUT' else ''}{x.name.upper()} &{x.name}" for x in matrices]
    given = {x.field: f'input("{x.name}", {x.name})' for x in matrices}
    lines = [f"same_type<{x.name.upper()}, {result.upper()}>();" for x in matrices if x.kind == "INPUT"]
    lines.append(f"call call = begun(operation, type_of<{result.upper()}>(), "
                 f"{', '.join(given.get(field, 'operand{}') for field in 'abc')});")
    lines += [f"call.what.{x.field} = {x.name};" for x in routine.of_kind("FLAG")]
    lines += ["call.what.m = call.c.rows;", "call.what.n = call.c.cols;"]
    names = {x.field: x.name for x in routine.of_kind("FLAG")}
    if "k" in routine.extents:
        x, = [x for x in matrices if x.field == "a"]
        lines.append(f"call.what.k = is_plain({names[x.rest[2]]}) ? call.a.cols : call.a.rows;")
    elif "side" in routine.flags:
        lines.append("const std::int64_t k = is_left(side) ? call.what.m : call.what.n;")
    value = {"m": "call.what.m", "n": "call.what.n", "k": "call.what.k" if "k" in routine.extents else "k"}
    if routine.has_triangle:
        lines.append("expect(call.c, call.what.n, call.what.n);")
    for x in matrices:
        if x.kind == "INPUT":
            rows, cols, op = x.rest
            turned = f"{names[op]}, " if op != "NONE" else ""
            lines.append(f"expect(call.{x.field}, {turned}{value[rows]}, {value[cols]});")
    lines.append("return call;")
    return (f"{templates(routine)}\ncall {routine.signature.lower()}_call(tsr_operation operation, "
            f"{', '.join(parameters)}) {{\n  " + "\n  ".join(lines) + "\n}\n")


def cpp_parameters(routine):
    out = []
    for x in routine.arguments:
        if x.kind == "FLAG":
            out.append(f"tsr_{x.rest[0]} {x.name}")
        elif x.kind == "SCALAR":
            out.append(f"{cpp_scalar(routine, getattr(routine, x.name))} {x.name}")
        elif x.is_matrix:
            out.append(f"const {x.name.upper()} &{x.name}" if x.kind == "INPUT" else f"{x.name.upper()} &&{x.name}")
    return out


def cpp_comment(routine):
    notes = []
    if "s" not in routine.types:
        notes.append("complex types")
    if routine.beta == "REAL":
        notes.append("real alpha and beta" if routine.alpha == "REAL" else "a real beta")
    return textwrap.fill(f"/* {routine.text}{': ' if notes else ''}{', '.join(notes)}. */", 100,
                         subsequent_indent=" * ")


def cpp_routine(routine, suffix, plain):
    lines = [] if "s" in routine.types else [
        f"static_assert(detail::is_complex<{routine.result.upper()}>(), "
        f"\"{routine.name} is for complex types: {plain}\");"]
    beta = "&beta" if routine.has_beta else "nullptr"
    passed = ", ".join([f"TSR_{routine.operation}", *routine.flags, *routine.operands])
    lines.append(f"detail::run(tsr_level3_run{suffix}, context, detail::{routine.signature.lower()}_call({passed}), "
                 f"arithmetic, &alpha, {beta}, {routine.result});")
    parameters = ", ".join(["const context &context", *cpp_parameters(routine), "const char *arithmetic = nullptr"])
    return f"{templates(routine)}\nvoid {routine.name}{suffix}({parameters}) {{\n  " + "\n  ".join(lines) + "\n}\n"


def plain_of(routine, routines):
    """The routine of real types that has the same arguments: symm for hemm."""
    return next((r.name for r in routines if r.signature == routine.signature and "s" in r.types), "")


def cpp(text, routines):
    calls = "\n".join(cpp_signature(group[0]) for group in by_signature(routines).values())
    bodies = "\n".join(f"{cpp_comment(r)}\n{cpp_routine(r, '', plain_of(r, routines))}\n"
                       f"{cpp_routine(r, '_async', plain_of(r, routines))}" for r in routines)
    made = ("namespace tessera {\n\nnamespace detail {\n\n/* The call of each list of arguments: it takes the extents "
            "from the matrices, and refuses\n * matrices that do not fit together. */\n"
            f"{calls}\n}}  // namespace detail\n\n{bodies}\n}}  // namespace tessera")
    return replaced(text, r"^namespace tessera \{.*^\}  // namespace tessera", made, CPP.name)


# ---- Python ----

DEFAULTS = {"side": '"left"', "uplo": '"lower"', "op": '"N"', "diag": '"non-unit"'}


def python_signature(routine, name=None, arrays=None, out="Array | None = None", end=") -> R:"):
    """The line that begins a method, wrapped. arrays: types of operands that are not Array."""
    number = {"REAL": "Real", "ELEMENT": "Number"}
    words = ["self", *(f"{x}: {(arrays or {}).get(x, 'Array')}" for x in routine.operands if x != "c"),
             f"out: {out}", "*", f"alpha: {number[routine.alpha]} = 1"]
    if routine.has_beta:
        words += [f"beta: {number[routine.beta]} | None = None", "c: Array | None = None"]
    words += [f"{x.name}: {x.rest[0].capitalize()} = {DEFAULTS[x.rest[0]]}" for x in routine.of_kind("FLAG")]
    if "t" in routine.types:
        words.append("tf32: bool = False")
    words += ["copy: bool | None = None", "arithmetic: str | None = None"]
    return wrapped(f"    def {name or routine.name}(", words, end)


def python_stub(text, routines):
    """The routines on arrays, with the types of results: of what is given as out, else as the operand that the
    result is of."""
    methods = []
    for routine, name in [(r, n) for r in routines for n in ([r.name, "matmul"] if r.name == "gemm" else [r.name])]:
        like = "a" if routine.has_beta else "b"
        for arrays, out, end in (({like: "A"}, "None = None", ") -> A: ..."), ({}, "Out", ") -> Out: ..."),
                                 ({}, "Array | None = None", ") -> Array: ...")):
            methods.append("    @overload\n" + python_signature(routine, name, arrays, out, end))
    return replaced(text, r"(?<=^class ArrayRoutines\(Routines\[Any\]\):\n).*\Z", "\n".join(methods) + "\n", "_typed.pyi")


def wrapped(start, words, end):
    """A list in lines of 100 characters, behind what begins it."""
    lines = [start]
    for i, word in enumerate(words):
        word += end if i + 1 == len(words) else ","
        if i > 0 and len(lines[-1]) + len(word) > 99:
            lines.append(" " * len(start) + word)
        else:
            lines[-1] += " " * (i > 0) + word
    return "\n".join(lines)


def python_body(routine):
    b = "b" if "b" in routine.operands else "None"
    c, beta = ("c", "beta") if routine.has_beta else ("None", "None")
    words = [f'"{routine.name}"', "a", b, c, "out", "alpha", beta, "copy", "arithmetic",
             *(["tf32=tf32"] if "t" in routine.types else []), *(f"{flag}={flag}" for flag in routine.flags)]
    return wrapped("        return self._routine(", words, ")")


def python(text, routines):
    for routine in routines:
        pattern = rf'^    def {routine.name}\(self.*?-> (?:Any|R):\n(        """.*?"""\n)(?: +[^\n]+\n)*'
        found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        if found is None:
            sys.exit(f"{routine.name}: Python has no such method: write it, with its text (see write.py)")
        method = f"{python_signature(routine)}\n{found[1]}{python_body(routine)}\n"
        text = text[:found.start()] + method + text[found.end():]
    return text


def python_families(text, routines):
    """The lists of routines that the package asks about."""
    def named(name, chosen):
        names = [f'"{r.name}"' for r in routines if chosen(r)]
        return wrapped(f"{name} = (", names, "," * (len(names) == 1) + ")")
    made = "\n".join([
        named("PRODUCTS", lambda r: "transb" in r.flags),
        named("SIDED", lambda r: "side" in r.flags and r.has_beta),
        named("RANKS", lambda r: r.has_triangle and "transb" not in r.flags),
        named("TRIANGULAR", lambda r: not r.has_beta),
        named("WITH_B", lambda r: "b" in r.operands),
        named("ONE_TRIANGLE", lambda r: r.has_triangle),
        named("REAL_ALPHA", lambda r: r.alpha == "REAL"),
        named("REAL_BETA", lambda r: r.beta == "REAL"),
        named("OF_COMPLEX", lambda r: "s" not in r.types),
        named("OF_HALVES", lambda r: "h" in r.types)])
    return replaced(text, r"^PRODUCTS = .*?(?=\nOPERATIONS)", made, "_layout.py")


def python_names(text, routines):
    """What the package shows: the routines of the default context."""
    shown = set(re.findall(r'"(\w+)"', re.search(r"^__all__ = \[(.*?)\]", text, re.DOTALL | re.MULTILINE)[1]))
    names = [f'"{name}"' for name in sorted(shown | {r.name for r in routines})]
    text = replaced(text, r"^__all__ = \[.*?\]", f"__all__ = [\n{wrapped('    ', names, ',')}\n]", "__all__")
    made = "\n".join(f"{r.name} = _routines.{r.name}" for r in routines)
    return replaced(text, r"(?<=^matmul = _routines.matmul\n).*?(?=\n\n)", made, "__init__.py")


# ---- Fortran ----

def fortran_numbers(text, routines):
    """The values of tsr_operation; the rest of the Fortran interface is made when it is built."""
    start = "  integer(c_int), parameter, public :: "
    numbers = [f"TSR_OP_{r.operation} = {i}" for i, r in enumerate(routines)]
    made = textwrap.fill(start + ", ".join(n.replace(" ", "\0") for n in numbers), 98, subsequent_indent="    ")
    made = made.replace("\n", " &\n").replace("\0", " ")
    return replaced(text, rf"^{re.escape(start)}TSR_OP_.*?\d(?=\n)(?!\n  )", made, "base.f90")


WRITERS = ((HEADER, header), (CPP, cpp), (PYTHON / "_routines.py", python), (PYTHON / "_layout.py", python_families),
           (PYTHON / "_typed.pyi", python_stub),
           (PYTHON / "__init__.py", python_names), (ROOT / "bindings/fortran/base.f90", fortran_numbers))


def main(update=None):
    routines, differ = table.read(), []
    for path, write in WRITERS:
        old = path.read_text(encoding="utf-8")
        new = write(old, routines)
        if new == old:
            continue
        differ.append(str(path.relative_to(ROOT)))
        if update:
            path.write_text(new, encoding="utf-8")
            if path.suffix in (".h", ".hpp") and shutil.which("clang-format"):
                subprocess.run(["clang-format", "-i", path], check=True)
    if differ and not update:
        sys.exit(f"{', '.join(differ)}: not as in {table.TABLE.relative_to(ROOT)}: "
                 "python3 tools/routines/write.py --update")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--update"]):
        sys.exit(__doc__)
    main(*sys.argv[1:])
