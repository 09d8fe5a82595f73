#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Manual pages: tessera(1) and one for each of its commands, from the tables that --help prints, and
libtessera(3), from the header, with a page of the name of each function that leads there (man tsr_dgemm).
Usage: man.py TESSERA HEADER FOLDER; writes FOLDER/man1/tessera.1 and so on."""
import re
import sys
from pathlib import Path

import header
from command import describe, flags


def roff(text):
    """Text for troff: no escapes, no line that begins with a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def head(name, section, line, version):
    return (f'.\\" Made by tools/docs/man.py.\n.TH {roff(name).upper()} {section} "" "Tessera {version}" "Tessera"\n'
            f".SH NAME\n{roff(name)} \\- {roff(line)}\n")


def option_row(option):
    names = ", ".join(f"\\fB{roff(flag)}\\fR" for flag in reversed(flags(option)))
    value = f" \\fI{roff(option['value'])}\\fR" if "value" in option else ""
    return f".TP\n{names}{value}\n{roff(option['help'])}\n"


def setting_row(setting):
    return (f".TP\n\\fB{roff(setting['name'])}\\fR={roff(setting['values'])}\n"
            f"{roff(setting['help'])} Default: {roff(setting['default'])}.\n")


def summary(text):
    """Paragraphs are filled; lists, which are indented, stay as they are."""
    parts = []
    for part in text.split("\n\n"):
        literal = part.startswith("  ")
        parts.append(f".nf\n{roff(part)}\n.fi\n" if literal else f"{roff(part)}\n")
    return ".PP\n".join(parts)


def command_page(command, told, version):
    name = "tessera-" + command["name"].replace(" ", "-")
    others = [f"tessera\\-{c['name'].replace(' ', '-')}(1)" for c in told["commands"] if c is not command]
    return "".join([
        head(name, 1, command["help"], version),
        f".SH SYNOPSIS\n\\fBtessera {command['name']}\\fR {roff(command['usage'])}\n",
        f".SH DESCRIPTION\n{summary(command['summary'])}",
        ".SH OPTIONS\n", *map(option_row, command["options"]),
        f".SH EXAMPLE\n.nf\n{roff(command['example'])}\n.fi\n",
        ".SH EXIT STATUS\n0: done. 1: failed. 2: wrong usage.",
        " tessera run returns the program's own.\n" if command["name"] == "run" else "\n",
        f".SH SEE ALSO\n{', '.join(['tessera(1)', *others, 'libtessera(3)'])}\n"])


def main_page(told, version):
    rows = "".join(f".TP\n\\fBtessera\\-{c['name'].replace(' ', '-')}\\fR(1)\n{roff(c['help'])}\n"
                   for c in told["commands"])
    return "".join([
        head("tessera", 1, "dense matrix products on machines with several GPUs", version),
        ".SH SYNOPSIS\n\\fBtessera\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n",
        ".SH DESCRIPTION\nTessera plans every operation first, as data, and then runs it.\n",
        ".SH COMMANDS\n", rows,
        ".SH ENVIRONMENT\nAn option overrides its setting.\n", *map(setting_row, told["settings"]),
        ".SH EXIT STATUS\n0: done. 1: failed. 2: wrong usage. tessera run returns the program's own.\n",
        ".SH SEE ALSO\nlibtessera(3)\n"])


def paragraphs(text):
    """A comment of the header: lists are indented there and stay as they are."""
    out = []
    for part in text.split("\n\n"):
        literal = re.search(r"^\s+\S", part, re.MULTILINE)
        out.append(f".PP\n.nf\n{roff(part)}\n.fi\n" if literal else f".PP\n{roff(part)}\n")
    return "".join(out)


def library_page(path, version):
    preface, sections = header.read(path)
    out = [head("libtessera", 3, "level-3 BLAS on several GPUs", version),
           f".SH SYNOPSIS\n.nf\n#include <{Path(path).name}>\n\n"
           "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs tessera)\n.fi\n",
           f".SH DESCRIPTION\n{paragraphs(preface)}"]
    for title, items in sections:
        out.append(f".SH {roff(title).upper()}\n")
        for item in items:
            out.append(f".PP\n.nf\n{roff(item.code.replace('TSR_API ', ''))}\n.fi\n" if item.code else "")
            out.append(f".RS\n{paragraphs(item.text)}.RE\n" if item.text else "")
    return "".join([*out, ".SH SEE ALSO\ntessera(1)\n"])


def functions(path):
    """The functions of a header. One that is declared for one type has an asynchronous one beside it."""
    found = []
    for _, items in header.read(path)[1]:
        for item in items:
            names = [name for name in item.names() if re.search(rf"\b{name}(?=[(,])", item.code)]
            typed = re.findall(r"^TSR_TYPED_\w+\((tsr_\w+),", item.code, re.MULTILINE)
            found += names + [f"{name}_async" for name in typed]
    return list(dict.fromkeys(found))


def version_of(path):
    text = Path(path).read_text(encoding="utf-8")
    return ".".join(re.search(rf"TSR_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def main(tessera, path, folder):
    told, version, folder = describe(tessera), version_of(path), Path(folder)
    for section in (1, 3):
        (folder / f"man{section}").mkdir(parents=True, exist_ok=True)
    (folder / "man1/tessera.1").write_text(main_page(told, version), encoding="utf-8")
    for command in told["commands"]:
        name = f"man1/tessera-{command['name'].replace(' ', '-')}.1"
        (folder / name).write_text(command_page(command, told, version), encoding="utf-8")
    (folder / "man3/libtessera.3").write_text(library_page(path, version), encoding="utf-8")
    for name in functions(path):
        (folder / f"man3/{name}.3").write_text(".so man3/libtessera.3\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
