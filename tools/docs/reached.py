# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What a page of results says first: at most ten lines and a picture, from the CSV files of all of its sections."""
import math

PLACES = {"h,h,h": "from pinned host memory", "0,0,0": "in the memory of GPU 0"}
TYPES = {"d": "fp64", "s": "fp32", "c": "fp32 complex", "z": "fp64 complex", "h": "fp16", "b": "bf16", "t": "TF32"}


def arithmetic_of(name, row):
    """How products were computed: words of the row, or the name of a file that has one way alone."""
    said = row.get("words") or ""
    for way in ("native", "emulated", "auto"):
        if way in said:
            return way
    return next((way for way in ("emulated", "auto") if way in name), "native")


def calls_of(runs, read):
    """The rows of calls with a floor: those of models and of processes have other columns."""
    found = {}
    for run in runs:
        for name in run["csv"].split():
            for row in read(name):
                if {"op", "m", "tflops", "floor_s", "median_s"} <= row.keys() and row["floor_s"]:
                    row["way"] = arithmetic_of(name, row)
                    found.setdefault(tuple(row.values()), row)
    return list(found.values())


def fraction(row):
    return float(row["floor_s"]) / float(row["median_s"])


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def shape(row):
    extents = [row[e] for e in "mnk"]
    return extents[0] if len(set(extents)) == 1 else " x ".join(extents)


def rate(value):
    return f"{float(f'{value:.3g}'):g}"


def devices_of(row):
    return "as many GPUs as help" if row["devices"] == "0" else f"{row['devices']} GPU{'s' * (row['devices'] != '1')}"


def best(rows, **wanted):
    """The fastest of the rows with these values; None: there is none."""
    some = [r for r in rows if all(r[name] == value for name, value in wanted.items())]
    return max(some, key=lambda r: float(r["tflops"]), default=None)


def told(row):
    return f"{rate(float(row['tflops']))} TFLOP/s at {shape(row)} on {devices_of(row)} ({fraction(row):.2f})"


def gemms(rows):
    """A line for each of fp64 and fp32, and one for the short types."""
    for kind in "ds":
        found = [(words, best(rows, op="gemm", type=kind, home=home, way="native")) for home, words in PLACES.items()]
        some = [f"{words} {told(row)}" for words, row in found if row]
        if some:
            yield f"{kind}gemm: {'; '.join(some)}."
    some = [(TYPES[kind], best(rows, op="gemm", type=kind, way="native")) for kind in "hbt"]
    some = [f"{name} {told(row)}" for name, row in some if row]
    if some:
        yield f"GEMM in other types: {'; '.join(some)}."


def others(rows):
    """The other routines, each with its best rate."""
    ops = [op for op in dict.fromkeys(r["op"] for r in rows) if op != "gemm"]
    for kind in "ds":
        found = [best(rows, op=op, type=kind, way="native") for op in ops]
        some = [f"{kind}{row['op']} {rate(float(row['tflops']))} ({fraction(row):.2f})" for row in found if row]
        if some:
            yield f"Other routines in {TYPES[kind]}, TFLOP/s: {', '.join(some)}."


def emulated(rows):
    some = []
    for kind in "sd":
        row, native = best(rows, op="gemm", type=kind, way="emulated"), best(rows, op="gemm", type=kind, way="native")
        if row:
            times = f", {float(row['tflops']) / float(native['tflops']):.1f} times the best native rate" if native else ""
            some.append(f"{kind}gemm {told(row)}{times}")
    if some:
        yield f"Emulated from products of 8-bit integers: {'; '.join(some)}."


def beside_the_peer(rows):
    pairs = [(float(r["peer_s"]) / float(r["median_s"]), r) for r in rows if float(r.get("peer_s") or 0) > 0]
    if pairs:
        least = min(pairs, key=lambda p: p[0])
        times = [t for t, _ in pairs]
        yield (f"Beside cuBLASXt, {len(pairs)} calls, each with the fastest of its block extents: {mean(times):.1f} times as fast in "
               f"the mean, {min(times):.1f} to {max(times):.1f}; slower in {sum(t < 1 for t in times) or 'none'} of them (the least: "
               f"{least[1]['type']}{least[1]['op']} {shape(least[1])} at {least[1]['home']} on {devices_of(least[1])}).")


def floors(rows):
    native = [r for r in rows if r["way"] == "native"]
    if native:
        least = min(native, key=fraction)
        above = any(fraction(r) > 1 for r in native)
        yield (f"Fraction of the limit of {len(native)} native calls: {mean(map(fraction, native)):.2f} in the mean; the least "
               f"{fraction(least):.2f} ({least['type']}{least['op']} {shape(least)} at {least['home']} on {devices_of(least)})."
               + " It is above 1 where the machine was slower while it was probed." * above)


def predictions(rows):
    errors = [float(r["predicted_s"]) / float(r["median_s"]) for r in rows if float(r.get("predicted_s") or 0) > 0]
    if errors:
        near = sum(abs(e - 1) <= 0.1 for e in errors)
        yield (f"Predicted / measured time of {len(errors)} calls: {mean(errors):.2f} in the mean, {min(errors):.2f} to "
               f"{max(errors):.2f}; {near} within 10 %.")


def budgets(runs, read):
    rows = [row for run in runs if run["kind"] == "caps" for name in run["csv"].split() for row in read(name)]
    rows = [row for row in rows if row["cap"] not in ("", "0")]
    if rows:
        least = min(rows, key=lambda r: float(r["of_uncapped"]))
        yield (f"With budgets of GPU memory, in {len({(r['type'], r['op'], r['n'], r['devices'], r['cap']) for r in rows})} cases: "
               f"at least {float(least['of_uncapped']):.2f} of the rate without ({least['type']}{least['op']} {least['n']} in "
               f"{int(least['cap']) / 1e9:g} GB on {devices_of(least)}).")


def when(runs, rows):
    dates = sorted(run["date"] for run in runs)
    days = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    yield f"{len(rows)} calls in {len(runs)} sections, {days}; each section below has its commit, its command and its file."


def text(runs, read):
    """The lines; the page has the picture behind them."""
    rows = calls_of(runs, read)
    lines = [*gemms(rows), *others(rows), *emulated(rows), *beside_the_peer(rows), *floors(rows), *predictions(rows),
             *budgets(runs, read), *when(runs, rows)]
    assert len(lines) <= 10, lines
    return "The best rate of each kind of call; in brackets the fraction of the limit, which is the rate at the floor:\n\n" + "".join(f"- {line}\n" for line in lines)


def bars(runs, read):
    """[(label, class, TFLOP/s, the limit)] for the picture: the best of each routine, from host memory and on GPU 0."""
    rows = [r for r in calls_of(runs, read) if r["type"] in "ds"]
    found = []
    for kind in "ds":
        for op in dict.fromkeys(r["op"] for r in rows):
            for home, place in (("h,h,h", "host"), ("0,0,0", "GPU 0")):
                for way, look in (("native", "ours"), ("emulated", "peer")):
                    row = best(rows, type=kind, op=op, home=home, way=way)
                    if row:
                        label = f"{kind}{op}, {place}{', emulated' if way == 'emulated' else ''}"
                        found.append((label, look, float(row["tflops"]), float(row["tflops"]) / fraction(row)))
    return found
