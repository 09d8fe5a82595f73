# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Results: rows of the driver's, as CSV and as tables."""
import csv
import math
import os

from .options import Fail

# The driver's columns. Files of older runs have the first fifteen.
COLUMNS = ("op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,fraction,predicted_s,peer,"
           "peer_s,plan_s,words,check,joules,digest,peer_block").split(",")
SIZES = {"s": 4, "t": 4, "d": 8, "c": 8, "z": 16, "h": 2, "b": 2}


def size_of(kind):
    """Bytes of an element of the type."""
    return SIZES[kind]


def flops(op, kind, m, n, k):
    """As the command counts them."""
    value = (8 if kind in "cz" else 2) * m * n * k
    if op in ("gemmt", "syrk", "herk", "syr2k", "her2k"):
        value = (4 if kind in "cz" else 1) * n * (n + 1) * k
    if op in ("syr2k", "her2k"):
        value *= 2
    if op in ("trmm", "trsm"):
        value /= 2
    return value


def tera(row, seconds):
    """TFLOP/s of the row's call when it takes so long."""
    return flops(row["op"], row["type"], row["m"], row["n"], row["k"]) / seconds * 1e-12


def key(row):
    """What tells a case from others: the call, and words that shape it, budgets and the like apart."""
    words = {w for w in row.get("words", "").split()
             if w.split("=")[0] not in ("memory", "tile", "check", "reproducible", "digest")}
    return (*(row[c] for c in ("op", "type", "m", "n", "k", "home", "devices")), frozenset(words))


# ---- CSV ----


def convert(column, text):
    """Numbers are ints where they are written so; an empty cell of numbers is 0."""
    if not text:
        return 0 if column.endswith(("_s", "_step", "_all")) or column == "ratio" else ""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def read_csv(paths, columns=("op", "type", "median_s"), missing_ok=False):
    """The rows of files (names with commas between them) whose first line has those columns."""
    rows = []
    for path in str(paths).split(","):
        if missing_ok and not os.path.exists(path):
            continue
        with open_csv(path, "r") as file:
            text = file.read()
        # Line by line, since one that was cut off may leave a quote open; the last one has no end then.
        lines = [next(csv.reader([line])) for line in text[:text.rfind("\n") + 1].splitlines() if line]
        head = lines[0] if lines else []
        if not set(columns) <= set(head) and not (missing_ok and not text):
            raise Fail(f"{path}: no results of a benchmark; its first line must name the columns "
                       f"{','.join(columns)} and others")
        rows += [{c: convert(c, v) for c, v in zip(head, line)} for line in lines[1:]
                 if len(line) == len(head) and line != head]
    return rows


def line_of(columns, row):
    """Texts in which there may be commas stand between quotes."""
    cells = (row.get(c, "") for c in columns)
    return ",".join(f'"{v}"' if c in ("home", "set", "step", "strategy", "words") or "," in str(v)
                    else f"{v:.9g}" if isinstance(v, float) else str(v)
                    for c, v in zip(columns, cells)) + "\n"


def write_csv(path, columns, rows):
    """A whole file."""
    with open_csv(path, "w") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(line_of(columns, row) for row in rows)


def open_csv(path, mode):
    try:
        return open(path, mode, newline="", encoding="utf-8")
    except OSError as error:
        raise Fail(f"{path}: {error.strerror}") from None


def append_csv(path, columns, row):
    """A row at the end, behind a head when the file is new. A line that the end of an earlier run
    has cut off stays one of its own."""
    with open_csv(path, "a+") as file:
        file.seek(0)
        text = file.read()
        head = next(csv.reader([text.split("\n", 1)[0]])) if text else columns
        if not text:
            file.write(",".join(columns) + "\n")
        elif not text.endswith("\n"):
            file.write("\n")
        file.write(line_of(head, row))


# ---- Tables ----


def table(*columns):
    """A function that prints a row of values, the first time behind a head. Columns are 'name:width'
    or, of numbers, 'name:width.digits'."""
    parts = [c.rsplit(":", 1) for c in columns]
    state = {"head": False}

    def show(*values):
        if not state["head"]:
            print(" ".join(f"{name:>{width.split('.')[0]}}" for name, width in parts))
            state["head"] = True
        cells = []
        for (_, width), value in zip(parts, values):
            plain = isinstance(value, str) or value is None
            cells.append(f"{'-' if value is None else value:>{width.split('.')[0]}}" if plain
                         else f"{value:>{width}f}" if "." in width else f"{value:>{width}}")
        print(" ".join(cells), flush=True)

    return show


def summary(values):
    """Geometric mean, least and most."""
    values = [v for v in values if v > 0]
    if not values:
        return 0, 0, 0
    mean = math.exp(sum(math.log(v) for v in values) / len(values))
    return mean, min(values), max(values)
