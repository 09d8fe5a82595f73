#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The predictions of docs/results/predicted, made again with a build by the commands of
docs/results/predictions.json. Pages quote them by marks that tools/docs/results.py fills. Without --update it names
what differs in three digits, and fails."""
import argparse
import csv
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREDICTED = ROOT / "docs/results/predicted"
SETS = json.loads((ROOT / "docs/results/predictions.json").read_text(encoding="utf-8"))
SIDE_BY_SIDE = 2  # commands: each is one thread for the most part
OFF = 5e-4  # relative difference at which three digits can differ


def run(build, words, output):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TESSERA_")}
    done = subprocess.run(words, cwd=ROOT, env={**environment, "BUILD": str(build), "PYTHONDONTWRITEBYTECODE": "1"},
                          stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr}")


def words_of(build, command):
    first, *rest = shlex.split(command)
    if first == "python3":
        return [sys.executable, *rest]
    return [str(build / Path(first).relative_to("build")), *rest]


def make(build, told, path, plot=None):
    """Writes the file that a command gives: what it prints, or its --csv; and its picture."""
    words = words_of(build, told["command"])
    if words[0] == sys.executable:
        run(build, [*words, "--csv", str(path), "--force", *(["--plot", str(plot)] if plot else [])],
            subprocess.DEVNULL)
    else:
        with open(path, "w", encoding="utf-8") as file:
            run(build, words, file)


def can_draw():
    return subprocess.run([sys.executable, "-c", "import matplotlib"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def alike(one, other):
    """Whether two cells are the same text, or numbers with the same three digits."""
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=OFF)
    except ValueError:
        return False


def difference(old, new):
    """The first place where two files differ, in words, or None."""
    with open(old, encoding="utf-8") as a, open(new, encoding="utf-8") as b:
        was, now = list(csv.reader(a)), list(csv.reader(b))
    if len(was) != len(now):
        return f"{len(was)} lines, now {len(now)}"
    differing = [(i, x, y) for i, (xs, ys) in enumerate(zip(was, now), 1)
                 if len(xs) != len(ys) or not all(map(alike, xs, ys)) for x, y in [(xs, ys)]]
    if not differing:
        return None
    line, x, y = differing[0]
    return f"{len(differing)} of {len(was)} lines differ; line {line} has {','.join(x)}, now {','.join(y)}"


def check(build, name, update, folder):
    """What differs in a file, in words, or None; with `update` the file is then replaced, and its picture drawn."""
    made, kept, told = Path(folder) / name, PREDICTED / name, SETS[name]
    picture = Path(folder) / told["plot"] if "plot" in told and update and can_draw() else None
    make(build, told, made, picture)
    what = difference(kept, made) if kept.exists() else "is not there"
    if what and update:
        kept.write_bytes(made.read_bytes())
        if picture:
            (PREDICTED / picture.name).write_bytes(picture.read_bytes())
    return what


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, metavar="BUILD", help="the folder of the build")
    parser.add_argument("--update", action="store_true", help="replace the files that differ, and their pictures")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--short", action="store_true", help="only the files that take ten seconds or so at most")
    which.add_argument("--long", action="store_true", help="only the files that take longer")
    which.add_argument("files", nargs="*", default=[], metavar="FILE.csv", help="only these files (all)")
    told = parser.parse_args(words)
    for name in told.files:
        if name not in SETS:
            parser.error(f"{name}: must be one of {', '.join(SETS)}")
    if not told.build.is_dir():
        parser.error(f"BUILD: {told.build} is no folder; configure and build first")
    return told


def chosen(told):
    if told.short or told.long:
        return [name for name, of in SETS.items() if of.get("long", False) == told.long]
    return told.files or list(SETS)


def main(words):
    told, failed = parse(words), False
    build, names = told.build.resolve(), chosen(told)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for name, what in zip(names, pool.map(lambda name: check(build, name, told.update, folder), names)):
            failed |= bool(what) and not told.update
            if what:
                print(f"{name}: {what}", flush=True)
    if failed:
        sys.exit("Predictions differ: python3 tools/docs/predictions.py BUILD --update && "
                 "python3 tools/docs/results.py --update")


if __name__ == "__main__":
    main(sys.argv[1:])
