#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Moves files of src/ and tests/ into the rooms of rooms.txt, and nothing else: includes, header guards and
mentions of paths follow. A branch that was made before the move can be brought over by the same script:

    python3 tools/moves/rooms.py
"""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
TEXT = {".c", ".h", ".cu", ".cuh", ".def", ".md", ".py", ".sh", ".txt", ".cmake", ".map", ".yml", ".toml", ""}
# What is left as it was: history, figures of the past, and this folder.
LEFT = re.compile(r"^(CHANGELOG\.md|docs/results/|docs/papers/data/|tools/moves/|LICENSES/|tests/plan/golden/)")


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, text=True, capture_output=True).stdout


def read_table(name):
    """Rows of "old new" and, indented below a path, of literal replacements "old => new" in that file."""
    moves, edits, file = {}, [], None
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("  "):
            edits.append((file, *line.strip().split(" => ")))
        elif line.endswith(":"):
            file = line[:-1]
        else:
            old, new = line.split()
            moves[old] = new
    return moves, edits


def files_of(moves):
    """Each file that moves -> where to, below the root. A row without a suffix stands for .c and .h."""
    found = {}
    for old, new in moves.items():
        for suffix in [""] if pathlib.Path(old).suffix else [".c", ".h", ".cu", ".def"]:
            if (ROOT / (old + suffix)).exists():
                found[old + suffix] = new + suffix
        assert any(file.startswith(old) for file in found), f"{old} does not exist"
    return found


def guard_of(path):
    return "TSR_" + re.sub(r"[^A-Z0-9]", "_", path.upper())


def bare_names(files):
    """Names without a folder, of files that get another one, if no other file has that name."""
    names = [path.rsplit("/", 1)[1] for path in git("ls-files", "src", "tests").split()]
    bare = {}
    for old, new in files.items():
        name, other = old.rsplit("/", 1)[1], new.rsplit("/", 1)[1]
        if name != other and names.count(name) == 1:
            bare[name] = new
    return bare


def mention(path, new):
    """How a file at a path calls a file of another name: by its room, unless they share one."""
    inside = new.removeprefix("src/")
    same = path.rsplit("/", 1)[0] == new.rsplit("/", 1)[0]
    return inside.rsplit("/", 1)[1] if same else inside


def rewrite(path, text, files, bare):
    whole = {old.removeprefix("src/"): new.removeprefix("src/") for old, new in files.items()}
    pattern = re.compile(r"(?<![\w./-])((?:\.\./)*(?:src/)?|\$\{CMAKE_SOURCE_DIR\}/src/)("
                         + "|".join(re.escape(old) for old in sorted(whole, key=len, reverse=True)) + r")(?![\w-])")
    text = pattern.sub(lambda m: m.group(1) + whole[m.group(2)], text)
    if bare:
        pattern = re.compile(r"(?<![\w./-])(" + "|".join(map(re.escape, bare)) + r")(?![\w-])")
        text = pattern.sub(lambda m: mention(path, bare[m.group(1)]), text)
    return text


def sort_includes(before, after):
    """Each block of includes that was in order is in order again."""
    was, lines, i = before.split("\n"), after.split("\n"), 0
    is_include = re.compile(r'#include "[^"]*/[^"]*"$').match
    while i < len(lines):
        j = i
        while j < len(lines) and is_include(lines[j]):
            j += 1
        if was[i:j] == sorted(was[i:j]):
            lines[i:j] = sorted(lines[i:j])
        i = max(j, i + 1)
    return "\n".join(lines)


def main():
    moves, edits = read_table("rooms.txt")
    files = files_of(moves)
    bare = bare_names(files)
    for old, new in files.items():
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        git("mv", old, new)
    for path in git("ls-files").split("\n"):
        file = ROOT / path
        if not path or LEFT.match(path) or file.suffix not in TEXT or not file.is_file() or file.is_symlink():
            continue
        try:
            before = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        after = before
        for old, new in files.items():
            if new == path and path.startswith("src/") and path.endswith(".h"):
                after = after.replace(guard_of(old[len("src/"):]), guard_of(new[len("src/"):]))
        after = rewrite(path, after, files, bare)
        for where, old, new in edits:
            if where == path:
                assert old in after, f"{path} has no {old}"
                after = after.replace(old, new)
        if file.suffix in (".c", ".h"):
            after = sort_includes(before, after)
        if after != before:
            file.write_text(after, encoding="utf-8")
    changed = [p for p in git("diff", "HEAD", "--name-only", "--diff-filter=d").split() if p.endswith((".c", ".h"))]
    subprocess.run(["clang-format", "-i", *(str(ROOT / p) for p in changed)], check=True)


if __name__ == "__main__":
    main()
