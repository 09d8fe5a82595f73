#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The tables of docs/reference that stand in the code: the settings, the options of the command, knobs,
tuned constants and statuses. A page has each between <!-- table: NAME --> and <!-- end of table -->.
Usage: reference.py BUILD [--update]; without --update it says what differs, and fails."""
import difflib
import re
import subprocess
import sys
from pathlib import Path

import header
from command import describe, flags

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/reference"
TABLE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)


def row(*cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def table(*heads, rows):
    return row(*heads) + row(*["---"] * len(heads)) + "".join(row(*cells) for cells in rows)


def settings(tessera, _):
    names = ("name", "values", "default", "help")
    rows = [(f"`{s['name']}`", *(s[name] for name in names[1:])) for s in describe(tessera)["settings"]]
    return table("variable", "may be", "default", "what it does", rows=rows)


def command_section(command):
    rows = [(", ".join(f"`{flag}`" for flag in reversed(flags(o))), f"`{o['value']}`" if "value" in o else "",
             o["help"]) for o in command["options"]]
    usage = f"tessera {command['name']} {command['usage']}".rstrip()
    example = re.sub(r"^ +", "", command["example"], flags=re.MULTILINE)
    return (f"## tessera {command['name']}\n\n```\n{usage}\n```\n\n{summary(command['summary'])}\n\n"
            f"{table('option', 'value', 'what it does', rows=rows)}\nExample:\n\n```\n{example}\n```\n\n")


def summary(text):
    """Its paragraphs; what is indented stands as it is."""
    parts = [f"```\n{part}\n```" if part.startswith("  ") else part for part in text.split("\n\n")]
    return "\n\n".join(parts)


def commands(tessera, old):
    """A command that the build lacks keeps the section that the page has."""
    kept = {m[1]: m[0] for m in re.finditer(r"^## tessera ([\w ]+)\n.*?(?=^## |\Z)", old, re.MULTILINE | re.DOTALL)}
    made = {c["name"]: command_section(c) for c in describe(tessera)["commands"]}
    names = list(made)
    for name in kept:
        if name in ("pgemm", "plan pgemm") and name not in made:
            names.insert(names.index("plan") + (name != "pgemm"), name)
    return "\n" + "".join(made.get(name) or kept[name] for name in names)


def printed(word):
    """What a command prints in Markdown."""
    def by(tessera, _):
        return subprocess.run([tessera, word], capture_output=True, text=True, check=True).stdout
    return by


def statuses(_tessera, _old):
    _, sections = header.read(ROOT / "include/tessera.h")
    code = next(item.code for title, items in sections if title == "Status" for item in items)
    found = re.findall(r"^  (TSR_\w+)(?: = (\d+))?,?(?:\s+/\* (.*?) \*/)?", code, re.MULTILINE)
    rows = [(f"`{name}`", str(i), text or "the call did what it was asked to do")
            for i, (name, _, text) in enumerate(found)]
    return table("status", "value", "means", rows=rows)


MAKERS = {"settings": settings, "commands": commands, "knobs": printed("knobs"), "tuning": printed("tuning"),
          "statuses": statuses}


def renewed(text, tessera):
    return TABLE.sub(lambda m: m[1] + MAKERS[m[2]](tessera, m[3]) + m[4], text)


def main(build, update=None):
    tessera, differ = Path(build).resolve() / "bin/tessera", False
    for page in sorted(PAGES.glob("*.md")):
        old = page.read_text(encoding="utf-8")
        new = renewed(old, tessera)
        if new != old and update:
            page.write_text(new, encoding="utf-8")
        elif new != old:
            differ = True
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), str(page.relative_to(ROOT)), "the code"))
    if differ:
        sys.exit(f"docs/reference differs from the code: python3 tools/docs/reference.py {build} --update")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--update"]):
        sys.exit(__doc__)
    main(*sys.argv[1:])
