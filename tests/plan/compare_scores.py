#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Compares two files of predicted times (plan_scores, or plan_test_golden --scores).

Prints how many cases got better or worse by more than 0.5 %, the mean, and the worst ones.
Ends with 1 if a case got worse by more, or is missing; with --same also if one got better.
"""
import argparse
import csv
import math
import sys


def read(path):
    with sys.stdin if path == "-" else open(path, newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) > 1 and row[1] != "seconds"]
    return {row[0]: float(row[1]) for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new", help="- for standard input")
    parser.add_argument("--limit", type=float, default=0.5, help="percent (0.5)")
    parser.add_argument("--show", type=int, default=10, help="how many of the worst (10)")
    parser.add_argument("--same", action="store_true", help="better is wrong, too")
    options = parser.parse_args()
    old, new = read(options.old), read(options.new)
    missing = [case for case in old if case not in new]
    ratio = {c: new[c] / old[c] if old[c] > 0 else 1.0 for c in old if c in new}
    if not ratio:
        sys.exit("no case is in both files")
    limit = options.limit / 100
    better = sum(r < 1 - limit for r in ratio.values())
    worse = sum(r > 1 + limit for r in ratio.values())
    same = sum(r == 1 for r in ratio.values())
    mean = math.exp(sum(map(math.log, ratio.values())) / len(ratio))
    print(
        f"{len(ratio)} cases: {same} the same, {better} better and {worse} worse by more than "
        f"{options.limit:g} %; time in the mean {100 * (mean - 1):+.3f} %"
    )
    changed = sorted((c for c in ratio if ratio[c] != 1), key=lambda c: -ratio[c])
    worst = [c for c in changed if ratio[c] > 1][: options.show]
    best = [c for c in reversed(changed) if ratio[c] < 1][: options.show]
    for case in worst + best:
        print(f"{100 * (ratio[case] - 1):+8.2f} %  {old[case]:.6g} -> {new[case]:.6g} s  {case}")
    for case in missing:
        print(f"missing: {case}")
    added = len(new) - len(ratio)
    if added:
        print(f"{added} cases are new")
    sys.exit(1 if worse or missing or (options.same and (better or added)) else 0)


main()
