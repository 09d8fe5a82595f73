#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The interface as pages for the site, from the public headers.
Usage: api.py FOLDER; writes FOLDER/api.md and FOLDER/api-mpi.md."""
import re
import sys
from pathlib import Path

import header

ROOT = Path(__file__).resolve().parents[2]
HEADERS = {"tessera.h": ("api.md", "The C interface"),
           "tessera_mpi.h": ("api-mpi.md", "The C interface across processes")}


def escaped(text):
    """Text of a comment, of which Markdown must take nothing for its own."""
    return re.sub(r"([*<>_\[\]|])", r"\\\1", text)


def prose(text, known):
    """Markdown of a comment: names of ours lead to where they are declared; what is indented stands as it is."""
    def link(match):
        name = match[0]
        return f"[`{name}`](#{anchor(name)})" if name in known else f"`{name}`"
    out = []
    for part in text.split("\n\n"):
        if re.search(r"^\s+\S", part, re.MULTILINE) and not re.search(r"^  - ", part, re.MULTILINE):
            out.append(f"```text\n{part}\n```")
            continue
        pieces = re.split(r"\b((?:tsr|TSR|TESSERA)_\w+)", part)
        words = [link(re.fullmatch(r"\w+", piece)) if i % 2 else escaped(piece) for i, piece in enumerate(pieces)]
        out.append(re.sub(r"^  - ", "- ", "".join(words), flags=re.MULTILINE))
    return "\n\n".join(out)


def anchor(name):
    return name.lower().replace("_", "-")


def group(item, known):
    """A heading with the names, the code, and what the comment says."""
    names = item.names()
    targets = "".join(f"({anchor(name)})=\n" for name in names)
    title = f"### {', '.join(names[:4])}{', ...' if len(names) > 4 else ''}\n\n" if names else ""
    code = f"```c\n{item.code.replace('TSR_API ', '')}\n```\n\n" if item.code else ""
    return f"{targets}{title}{code}{prose(item.text, known)}\n\n"


def page(path, title):
    preface, sections = header.read(path)
    known = {name for _, items in sections for item in items for name in item.names()}
    out = [f"# {title}\n\nThis page is made from `{path.name}`.\n\n{prose(preface, known)}\n\n"]
    for name, items in sections:
        out.append(f"## {name}\n\n")
        out += [group(item, known) for item in items]
    return "".join(out)


def main(folder):
    for name, (file, title) in HEADERS.items():
        (Path(folder) / file).write_text(page(ROOT / "include" / name, title), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
