# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Runs the driver on lists of cases."""
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from .options import PASSED, Fail, built, number, shard
from .results import COLUMNS, append_csv, key, read_csv

# Which of m, n and k a routine is told.
EXTENTS = {"gemm": "mnk", "gemmt": "nk", "symm": "mn", "hemm": "mn", "syrk": "nk", "herk": "nk",
           "syr2k": "nk", "her2k": "nk", "trmm": "mn", "trsm": "mn", "pgemm": "mnk"}


def case(op, kind, shape, words="", **more):
    """A line for the driver: case('gemm', 'd', (64, 64, 64), home='h,h,h')."""
    m, n, k = shape
    extents = {"m": m, "n": n, "k": k}
    line = [op, kind, *(str(extents[e]) for e in EXTENTS[op])]
    for name, value in more.items():
        if value is not None and value != "":
            line.append(f"{name.replace('_', '-')}='{value}'" if " " in str(value)
                        else f"{name.replace('_', '-')}={value}")
    return " ".join(line + ([words] if words else []))


def real_home(home, devices):
    """Device d is device d modulo those there are."""
    return ",".join(str(int(h) % devices) if devices and h.isdigit() else h
                    for h in home.split(","))


def call(command, **words):
    """The output of a program."""
    try:
        done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                              check=False, **words)
    except OSError as error:
        raise Fail(f"{command[0]}: {error.strerror}; build first, or name it with --driver") from None
    if done.returncode != 0:
        raise Fail(f"{command[0]} failed: see above")
    return done.stdout


def passed(args, names):
    """The options that the driver has under the same name."""
    words = ["--check"] if getattr(args, "check", None) else []
    for name in names:
        value = getattr(args, name, None)
        if value is not None:
            words += ["--" + name.replace("_", "-"), str(value)]
    return words


def beside(args, name):
    """A program of the same build as the driver."""
    return (Path(args.driver).resolve().parent.parent if args.driver else built("")) / name


def machine(args):
    """The machine as tessera prints it."""
    command = [beside(args, "bin/tessera"), "machine", "--json", *passed(args, ["engine", "machine"])]
    return json.loads(call([c for c in command if c != "--check"]))


def start(command, **words):
    try:
        return subprocess.Popen([str(c) for c in command], text=True, stdout=subprocess.PIPE, **words)
    except OSError as error:
        raise Fail(f"{command[0]}: {error.strerror}; build first, or name it with --driver") from None


def index_of(row):
    """Which of the cases it is of."""
    return int(re.search(r"(\d+)$", row["case"])[1]) - 1


def rows_of(driver, all_or_none=True):
    """Its results as they come; wrong ones are told of by the driver, and no results. all_or_none: a
    case that fails ends it, so that results come in the order of the cases, without a gap."""
    try:
        for count, text in enumerate(driver.stdout):
            row = json.loads(text)
            if all_or_none and (index_of(row) != count or row.get("correct") is False):
                raise Fail(f"case {count + 1} failed: see above")
            if row.get("correct") is not False:
                yield row
        if driver.wait() != 0:
            raise Fail("the driver failed: see above")
    finally:
        driver.terminate()
        driver.stdout.close()
        driver.wait()


def measure(args, lines, *more, names=PASSED, all_or_none=True):
    """The results of the cases. Closing it ends the driver."""
    driver = start([args.driver, "--cases", "-", "--json", *more, *passed(args, names)],
                   stdin=subprocess.PIPE)
    try:
        driver.stdin.write("\n".join(lines) + "\n")
        driver.stdin.close()
    except BrokenPipeError:
        pass  # it has said why
    return rows_of(driver, all_or_none)


def devices_here(args):
    """Those of 1, 2, 4 that are here; [0] when the CPU's BLAS does the work."""
    there = len(machine(args)["devices"])
    return [count for count in (1, 2, 4) if count <= there] or [0]


class DataSet:
    """Cases whose results go to a CSV one by one, so that a run may be stopped and taken up again."""

    @staticmethod
    def options(parser):
        parser.run_option("--resume", action="store_true", default=None,
                          help="leave out what the CSV has; sum all of it up")
        parser.run_option("--shard", type=shard, metavar="I/OF",
                          help="measure part I of OF parts (from 1)")
        parser.run_option("--seconds", type=number(0, 1e6), metavar="S",
                          help="stop in time to end within so long, between two cases")

    def __init__(self, args, show):
        self.args, self.show, self.begin = args, show, time.monotonic()
        known = read_csv(args.csv, missing_ok=True) if args.resume else []
        self.rows = {key(row): row for row in known}

    def note(self, wanted, row):
        row = dict(row, **wanted, fraction=row["floor_s"] / row["median_s"], check="ok")
        row.setdefault("peer", "")
        row.setdefault("peer_s", 0)
        self.rows[key(wanted)] = row
        self.show(row)
        if self.args.csv:
            append_csv(self.args.csv, COLUMNS, row)

    def find(self, wanted):
        return self.rows.get(key(wanted))

    def is_late(self, longest):
        limit = self.args.seconds
        return limit is not None and time.monotonic() - self.begin + longest > limit

    def run(self, wanted):
        """wanted: pairs of what tells a case from others (a row without results), and its line. Part
        of --shard is measured. The rows that are there then, in that order."""
        i, of = self.args.shard or (1, 1)
        left = {key(w): (w, line) for w, line in wanted[i - 1::of] if key(w) not in self.rows}
        todo, longest, last = list(left.values()), 0, time.monotonic()
        lines = [line for _, line in todo]
        results = measure(self.args, lines, all_or_none=False) if todo else ()
        for row in results:
            case_of = todo[index_of(row)][0]
            self.note(case_of, row)
            del left[key(case_of)]
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            if left and self.is_late(longest):
                results.close()
                print(f"note: {len(left)} cases are left for want of time; run it again with "
                      "--resume", file=sys.stderr)
                break
        return [self.rows[key(w)] for w, _ in wanted if key(w) in self.rows]
