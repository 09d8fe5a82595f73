#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Prints the golden plans of two commits side by side, where they differ: their counts, and their first
commands that differ. Each commit is built in a folder of its own, which is kept for the next time.

    python3 tests/plan/golden_between.py HEAD~1 HEAD
    python3 tests/plan/golden_between.py main . --part "h200x4 dgemm"

"." is the working tree as it is.
"""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["plan_test_golden", "cluster_golden"]


def run(*words, **options):
    return subprocess.run(words, check=True, text=True, capture_output=True, **options).stdout


def sources_of(commit, folder):
    """The folder of a commit's sources: a copy below `folder`, or this one."""
    if commit == ".":
        return ROOT
    full = run("git", "-C", str(ROOT), "rev-parse", commit + "^{commit}").strip()
    at = folder / full[:12] / "source"
    if not at.exists():
        at.mkdir(parents=True)
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", full], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", str(at)], check=True, input=archive.stdout)
    return at


def long_forms(commit, folder, part):
    """The cases of a commit: name -> (counts, commands)."""
    source = sources_of(commit, folder)
    build = folder / ("here" if commit == "." else source.parent.name) / "build"
    off = [f"-DTESSERA_{what}=OFF" for what in ("CUDA", "HIP", "PYTHON")]
    run("cmake", "-S", str(source), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DTESSERA_TESTS=ON", *off)
    run("cmake", "--build", str(build), "-j", str(os.cpu_count()), "--target", *PROGRAMS)
    cases = {}
    for program in PROGRAMS:
        words = [str(build / "tests" / program), "--long"] + ([part] if part else [])
        text = run(*words, env={**os.environ, "TESSERA_SOURCE_DIR": str(source)})
        cases.update(read_cases(text))
    return cases


def read_cases(text):
    cases = {}
    for block in text.split("\n\n"):
        name, *lines = block.strip("\n").split("\n")
        is_command = [line.lstrip().split(" ")[0].isdigit() for line in lines]
        # Times and digest begin with a number, too, and stand before the counts.
        first = next((i for i in range(2, len(lines)) if is_command[i] and " digest " not in lines[i]), len(lines))
        if name:
            cases[name] = (lines[:first], lines[first:])
    return cases


def without_number(line):
    return line.lstrip().partition(" ")[2]


def print_pairs(pairs, width):
    for mine, other in pairs:
        same = mine == other
        print(f"  {(mine or '')[:width]:<{width}} {' ' if same else '|'} {(other or '')[:width]}")


def print_case(name, old, new, width, most):
    print(name)
    print_pairs(itertools.zip_longest(old[0], new[0]), width)
    pairs = list(itertools.zip_longest(old[1], new[1]))
    differ = [i for i, (a, b) in enumerate(pairs) if without_number(a or "") != without_number(b or "")]
    if differ:
        print(f"  {len(differ)} of {len(pairs)} commands differ; from the first one on:")
        print_pairs(pairs[differ[0] : differ[0] + most], width)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--part", help="of a case's name: those alone")
    parser.add_argument("--width", type=int, default=90, help="of a column, characters")
    parser.add_argument("--commands", type=int, default=12, help="that are printed of a case")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "tessera-goldens")
    asked = parser.parse_args()
    old = long_forms(asked.old, asked.folder, asked.part)
    new = long_forms(asked.new, asked.folder, asked.part)
    differ = [name for name in old if name in new and old[name] != new[name]]
    for name in differ:
        print_case(name, old[name], new[name], asked.width, asked.commands)
    for name in sorted(old.keys() ^ new.keys()):
        print(f"{name}: only in {asked.old if name in old else asked.new}")
    print(f"{len(differ)} of {len(old)} cases differ")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)}\n{error.stderr}")
