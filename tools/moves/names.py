#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Renames what names.txt says, and nothing else.

    python3 tools/moves/names.py
"""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
# Two whole numbers or doubles, of which a function of a file returns one.
OF_TWO = re.compile(r"static (int64_t|int|double) (\w+)\(\1 a, \1 b\) \{\n  return a [<>] b \? a : b;\n\}\n\n?")
# A function, a struct or a group of prototypes: up to its brace in the first column.
PARTS = re.compile(r"(?<=\n\}\n)|(?<=;\n)(?=\n)|(?<=\n\} )")


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, text=True, capture_output=True).stdout


def rows():
    for line in (HERE / "names.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            old, new, *patterns = line.split()
            yield old, new, patterns


def matches(path, pattern):
    return pathlib.PurePath(path).match(pattern) if "/*/*" in pattern or "[" in pattern else (
        path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern)


def rename_word(text, old, new):
    return re.sub(rf"(?<![\w\"/]){old}(?!\w)", new, text)


def split_comments(text):
    """Code and comments in turn."""
    return re.split(r"(/\*.*?\*/)", text, flags=re.S)


def name_strategies(text):
    """r becomes strategy where it is one: in the functions and structs that declare it as one."""
    parts = re.split(r"(?<=\n\}\n)", text)
    fields = re.search(r"\n  (?:const )?tsr_strategy \*?r;\n[^{]*\n\} \w+;", text)
    for i, part in enumerate(parts):
        declared = re.search(r"tsr_strategy \*?r\b", part)
        if not declared and not fields:
            continue
        new = "simple" if re.search(r"tsr_strategy \*strategy\b[^{]*\{\s+tsr_strategy r = \*strategy", part) else "strategy"
        pieces = split_comments(part)
        for j in range(0, len(pieces), 2):
            if declared:
                pieces[j] = re.sub(r"(?<![\w.])(?<!->)r\b(?!\")", new, pieces[j])
            if fields:
                pieces[j] = re.sub(r"(?<=->)r\b|(?<=[\w\])]\.)r\b|(?<=[{ ]\.)r(?= =)", new, pieces[j])
        parts[i] = "".join(pieces)
    return "".join(parts)


def include(text, header):
    """Adds a header to the block of its kind, in order."""
    mark = header[0]
    lines = text.split("\n")
    if f"#include {header}" in lines:
        return text
    block = [i for i, line in enumerate(lines) if line.startswith(f"#include {mark}")]
    if mark == '"' and block[0] + 1 not in block and len(block) > 1:
        block = block[1:]  # the first one is the file's own header
    at = next((i for i in block if lines[i] > f"#include {header}"), block[-1] + 1)
    lines.insert(at, f"#include {header}")
    return "\n".join(lines)


def name_least_and_most(text, names):
    """Functions of a file become those of base/least.h; of doubles, those of C."""
    for found in list(OF_TWO.finditer(text)):
        kind, name = found[1], found[2]
        if name not in names:
            continue
        doubles = {"tsr_least": "fmin", "tsr_most": "fmax"}
        new = doubles[names[name]] if kind == "double" else names[name]
        text = re.sub(rf"(?<![\w.>]){name}\(", f"{new}(", text.replace(found[0], ""))
        text = include(text, "<math.h>" if kind == "double" else '"base/least.h"')
    return text


def main():
    files = [p for p in git("ls-files", "src", "tests").split() if p.endswith((".c", ".h", ".cu"))]
    two = {old: new for old, new, _ in rows() if new in ("tsr_least", "tsr_most")}
    for path in files:
        before = text = (ROOT / path).read_text(encoding="utf-8")
        for old, new, patterns in rows():
            if new in ("tsr_least", "tsr_most") or not any(matches(path, p) for p in patterns):
                continue
            text = name_strategies(text) if old == "r" else rename_word(text, old, new)
        if path.startswith("src/") and path.endswith(".c"):
            text = name_least_and_most(text, two)
        if text != before:
            (ROOT / path).write_text(text, encoding="utf-8")
    (ROOT / "src/base/least.h").write_text(LEAST, encoding="utf-8")
    changed = [p for p in git("diff", "HEAD", "--name-only", "--diff-filter=d").split() if p.endswith((".c", ".h"))]
    subprocess.run(["clang-format", "-i", *(str(ROOT / p) for p in changed)], check=True)


LEAST = """/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The least and the most of two whole numbers; doubles have fmin and fmax. */
#ifndef TSR_BASE_LEAST_H
#define TSR_BASE_LEAST_H

#include <stdint.h>

static inline int64_t tsr_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t tsr_most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

#endif
"""

if __name__ == "__main__":
    main()
