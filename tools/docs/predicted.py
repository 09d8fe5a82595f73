# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What pages quote from docs/results/predicted. A mark in a page,

  <!-- predicted: WHAT WORDS ... --> ... <!-- end -->

has a maker of this file, named WHAT; `results.py --update` puts what the maker gives between the two comments, in a
line of text or as a table. Words with spaces stand in quotation marks. A mark in a line of text must not begin the
line: Markdown would take the line for HTML."""
import csv
import json
import math
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
MARK = re.compile(r"(<!-- predicted: (.*?) -->)(.*?)(<!-- end -->)", re.DOTALL)


def read(name, folder="predicted"):
    with open(RESULTS / folder / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(heads, rows):
    line = "| {} |\n".format
    return "\n" + "".join(map(line, [" | ".join(heads), " | ".join(["---"] * len(heads)), *map(" | ".join, rows)]))


def three(value):
    """1616.3 as 1620, 3.8 as 3.80."""
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)) + 1e-12)
    return f"{round(value, digits):.{max(digits, 0)}f}"


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def number(row, column):
    return float(row[column])


def ratio(a, b):
    """Of two lists of rows, value by value, of their predicted times."""
    return [number(x, "predicted_s") / number(y, "predicted_s") for x, y in zip(a, b)]


def find(given, **wanted):
    """The rows that have these values."""
    return [row for row in given if all(row[column] == str(value) for column, value in wanted.items())]


def one(name, kind, n, home, devices):
    """The row of a square gemm."""
    return find(read(name), type=kind, n=n, m=n, k=n, home=home, set=devices)[0]


# ---- Makers of single figures ----


def value(name, kind, n, home, devices, what):
    """ms, floor_ms, tflops or fraction of a square gemm."""
    row = one(name, kind, n, home, devices)
    if what in ("ms", "floor_ms"):
        return three(1e3 * number(row, {"ms": "predicted_s", "floor_ms": "floor_s"}[what]))
    return three(number(row, what)) if what == "tflops" else f"{number(row, what):.2f}"


def speedup(name, kind, n, home, devices, what="predicted_s"):
    """Over one device; with floor_s the floor's own; with `share` the first over the second."""
    if what == "share":
        return f"{float(speedup(name, kind, n, home, devices)) / float(speedup(name, kind, n, home, devices, 'floor_s')):.2f}"
    return f"{number(one(name, kind, n, home, '1'), what) / number(one(name, kind, n, home, devices), what):.2f}"


def fractions(name, devices):
    """The geometric mean of the fraction of the floor."""
    return f"{mean(number(row, 'fraction') for row in find(read(name), set=devices)):.3f}"


def least(name, devices):
    """The least fraction of the floor, and where."""
    row = min(find(read(name), set=devices), key=lambda r: number(r, "fraction"))
    return f"{number(row, 'fraction'):.2f} ({shape(row)} at {row['home']})"


def shape(row):
    cube = row["m"] == row["n"] == row["k"]
    return row["m"] if cube else f"{row['m']} x {row['n']} x {row['k']}"


def against(name, fewer, more, what):
    """Of a data set on two sets of devices: how many times as fast the second is in the mean, how many points are
    slower (by more than 1 %) or faster, and what the worst one loses."""
    rows = read(name)
    ratios = ratio(find(rows, set=fewer), find(rows, set=more))
    return {"mean": lambda: f"{mean(ratios):.2f}", "slower": lambda: str(sum(r < 1 / 1.01 for r in ratios)),
            "faster": lambda: str(sum(r > 1.01 for r in ratios)),
            "worst": lambda: f"{100 * (1 / min(ratios) - 1):.0f} %"}[what]()


def errors(name, devices, what):
    """predicted / measured: of the file's prediction (`file`) or of that of the measured run (`then`)."""
    rows = find(read(name), devices=devices)
    values = [number(r, "ratio") if what == "file" else number(r, "then_s") / number(r, "measured_s") for r in rows]
    near = sum(abs(v - 1) <= 0.1 for v in values)
    return (f"{min(values):.2f} to {max(values):.2f}, {mean(values):.2f} in the mean, and {near} of {len(values)} points "
            "are within 10 %")


def measured(name, n, home, devices, column):
    """TFLOP/s of a square dgemm that was measured, by one of the columns of seconds."""
    row = find(read(name, "measured"), op="gemm", type="d", n=n, m=n, home=home, devices=devices)[0]
    return f"{float(f'{2e-12 * int(n) ** 3 / number(row, column):.3g}'):g}"


# ---- Makers of tables ----


def error_table(name, devices):
    rows = [r for r in find(read(name), devices=devices) if r["m"] == r["n"] == r["k"]]
    cells = [[f"{r['n']}, {r['home']}", r["devices"], three(1e3 * number(r, "predicted_s")),
              three(1e3 * number(r, "measured_s")), f"{number(r, 'ratio'):.2f}",
              f"{number(r, 'then_s') / number(r, 'measured_s'):.2f}"] for r in rows]
    return table(["N, home", "GPUs", "predicted", "measured", "by the file / measured", "then / measured"], cells)


def scaling(name, kind, home):
    """TFLOP/s, fraction of the floor, speed-up of the floor's own."""
    rows = find(read(name), type=kind, home=home)
    sets = list(dict.fromkeys(r["set"] for r in rows))

    def cell(n, devices):
        text = f"{value(name, kind, n, home, devices, 'tflops')}, {value(name, kind, n, home, devices, 'fraction')}"
        if devices != sets[0] and sets[0] == "1":
            text += (f", {speedup(name, kind, n, home, devices)} of "
                     f"{speedup(name, kind, n, home, devices, 'floor_s')}")
        return text

    return table([f"{kind}gemm, {home}", *sets],
                 [[n, *(cell(n, devices) for devices in sets)] for n in dict.fromkeys(r["n"] for r in rows)])


def sizes(name, home, devices, kinds):
    """A line for each type, a column for each extent: TFLOP/s and fraction of the floor."""
    extents = list(dict.fromkeys(r["n"] for r in find(read(name), home=home, set=devices)))
    rows = [[f"{kind}gemm", *(f"{value(name, kind, n, home, devices, 'tflops')}, "
                              f"{value(name, kind, n, home, devices, 'fraction')}" for n in extents)] for kind in kinds]
    return table([f"{home}, {devices} GPUs", *extents], rows)


def published(name, other):
    """TFLOP/s and fraction of the floor, beside what was published."""
    known = read(other, "published")
    sets = list(dict.fromkeys(r["set"] for r in read(name)))
    counts = {devices: str(len(devices.split(",")) if "," in devices else devices) for devices in sets}

    def cell(n, devices):
        then = find(known, n=n, devices=counts[devices])[0]
        return (f"{value(name, 'd', n, 'h,h,h', devices, 'tflops')}, {value(name, 'd', n, 'h,h,h', devices, 'fraction')}"
                f" / {float(then['tflops']):g}")

    return table(["N", *counts.values()], [[n, *(cell(n, d) for d in sets)] for n in dict.fromkeys(r["n"] for r in known)])


def published_range(name, what):
    """The least and the most of predicted over published rates, in per cent above one."""
    over = [number(r, "measured_s") / number(r, "predicted_s") for r in read(name) if r["measured_s"]]
    return {"least": lambda: f"{100 * (min(over) - 1):.0f} %", "most": lambda: f"{100 * (max(over) - 1):.0f} %",
            "near": lambda: f"{sum(o < 1.1 for o in over)} of {len(over)}"}[what]()


def published_speedups(name, other):
    known = read(other, "published")
    sets = {len(s.split(",")) if "," in s else int(s): s for s in dict.fromkeys(r["set"] for r in read(name))}
    counts = list(dict.fromkeys(r["devices"] for r in known))
    return table(["N", *counts],
                 [[n, *(f"{speedup(name, 'd', n, '0,0,0', sets[int(c)])} / {find(known, n=n, devices=c)[0]['speedup']}"
                        for c in counts)] for n in dict.fromkeys(r["n"] for r in known)])


def steps(n, *names):
    """The steps of an ablation, predicted ms at each N, a column for each machine and extent."""
    heads = [f"{name.removeprefix('ablation-')}, {extent}" for name in names for extent in n.split(",")]
    rows = [read(name) for name in names]
    lines = [[step, *(three(1e3 * number(find(r, step=step, n=extent)[0], "predicted_s"))
                      for r in rows for extent in n.split(","))] for step in dict.fromkeys(r["step"] for r in rows[0])]
    lines.append(["floor", *(three(1e3 * number(find(r, n=extent)[0], "floor_s")) for r in rows for extent in n.split(","))])
    return table(["", *heads], lines)


def routines(name):
    """A line for each routine, type and home, a column for each extent: TFLOP/s and the fraction of the floor's rate."""
    rows = read(name)
    sizes = sorted({int(r["n"]) for r in rows})
    lines = {}
    for r in rows:
        cell = f"{three(number(r, 'tflops'))}, {number(r, 'fraction'):.2f}"
        lines.setdefault((f"{r['type']}{r['op']}", r["home"], r["devices"]), {})[int(r["n"])] = cell
    return table(["routine", "home", "GPUs", *map(str, sizes)],
                 [[*call, *(cells.get(n, "") for n in sizes)] for call, cells in lines.items()])


def measured_errors(name, operations):
    """predicted / measured time of a file of measurements, of some routines."""
    rows = [r for r in read(name, "measured") if r["op"] in operations.split(",")]
    values = [number(r, "predicted_s") / number(r, "median_s") for r in rows]
    return f"{min(values):.2f} to {max(values):.2f}, {mean(values):.2f} in the mean"


def composed_bytes(name):
    """Bytes of composed and of separate calls by direction, measured, beside the least."""
    rows = read(name, "measured")
    cells = [[r["n"], r["calls"], *(three(number(r, c) / 1e9) for c in ("host_to_device", "floor_in", "device_to_host", "floor_out",
                                                                       "device_to_device")),
              three(number(r, "tflops"))] for r in rows]
    return table(["N", "calls", "host to devices", "the least", "devices to host", "the least", "device to device", "TFLOP/s"],
                 cells)


# ---- A cluster: shares of the peak, in per cent ----


def of_series(name, network, grid, lookahead):
    """The share at the largest N, the last one with one block of C, and the least with several."""
    rows = find(read(name), network_gb_s=network, rows=grid, cols=grid, lookahead=lookahead)
    single = [r for r in rows if r["blocks_down"] == r["blocks_across"] == "1"]
    several = [r for r in rows if r not in single and int(r["n"]) > int(single[0]["n"])]
    return (rows[-1]["n"], *(100 * number(r, "share_of_peak") for r in (rows[-1], single[-1])),
            100 * min(number(r, "share_of_peak") for r in several))


def cluster(name, networks, grids):
    """A line for each network and grid."""
    cells = []
    for network in networks.split(","):
        for grid in grids.split(","):
            found = [of_series(name, network, grid, lookahead) for lookahead in "12"]
            share, block, several = (" / ".join(f"{f[i]:.1f}" for f in found) for i in (1, 2, 3))
            cells.append([f"{network} GB/s", f"{grid} x {grid}", f"{int(found[0][0]):,}", f"{share} %", f"{block} %",
                          f"{several} %"])
    return table(["network", "grid", "largest N", "of the peak, l = 1 / 2", "one block of C", "several, at least"], cells)


def cluster_drop(names, networks, grids):
    """The least share with several blocks of C: a line for each grid, a column for each network."""
    of = {network: name for name in names.split(",") for network in {r["network_gb_s"] for r in read(name)}}
    return table(["grid", *(f"{n} GB/s" for n in networks.split(","))],
                 [[f"{g} x {g}", *(" / ".join(f"{of_series(of[n], n, g, lookahead)[3]:.1f}" for lookahead in "12")
                                   for n in networks.split(","))] for g in grids.split(",")])


def cluster_least(name, networks):
    """The least share of all points with several blocks of C."""
    grids = dict.fromkeys(r["rows"] for r in read(name))
    return f"{min(of_series(name, n, g, a)[3] for n in networks.split(',') for g in grids for a in '12'):.1f} %"


def per_cent(shares):
    """"84 to 86 %", or one figure if they agree."""
    ends = list(dict.fromkeys(f"{100 * share:.0f}" for share in (min(shares), max(shares))))
    return " to ".join(ends) + " %"


def cluster_share(name, networks, lookaheads, what):
    """The shares of all grids: at the largest N, or (`drop`) the least with several blocks of C."""
    grids = dict.fromkeys(r["rows"] for r in read(name))
    found = [of_series(name, n, g, a) for n in networks.split(",") for g in grids for a in lookaheads.split(",")]
    return per_cent([f[{"largest": 1, "drop": 3}[what]] / 100 for f in found])


def tile_share(devices, least, most):
    """The shares of the peak with so many GPUs and tiles of `least` to `most`."""
    return per_cent([number(r, "share_of_peak") for r in read("parsec-tiles")
                     if r["devices"] in devices.split(",") and int(least) <= int(r["tile"]) <= int(most)])


def loaded(which):
    """What is loaded over equation (1): of runs in its case (a), of others with `one` or `several` blocks of C."""
    def kind(row):
        tiles = int(row["n"]) / math.sqrt(int(row["processes"])) / int(row["tile"])
        return "a" if row["case"] == "a" else "several" if tiles > int(row["b"]) or tiles > int(row["c"]) else "one"

    return per_cent([(number(r, "host_bytes") + number(r, "peer_bytes")) / number(r, "equation_bytes")
                     for r in read("parsec-loads") if kind(r) == which])


def from_peers():
    """The part of the loads that come from other GPUs."""
    return per_cent([number(r, "peer_bytes") / (number(r, "host_bytes") + number(r, "peer_bytes"))
                     for r in read("parsec-loads")])


# ---- Sizes of tiles ----


def tiles(name, cut):
    """TFLOP/s by the replay: a line for each N, home and number of devices, a column for each size."""
    rows = find(read(name), cut=cut)
    sizes = sorted({int(r["tile"]) for r in rows})
    curves = {}
    for row in rows:
        cell = three(2e-12 * int(row["n"]) ** 3 / number(row, "predicted_s"))
        if "replay" in row["picked_by"].split():
            cell = f"**{cell}**"
        curves.setdefault((row["devices"], row["home"], row["n"]), {})[int(row["tile"])] = cell
    return table(["GPUs", "home", "N", *map(str, sizes)],
                 [[*curve, *(cells.get(size, "") for size in sizes)] for curve, cells in sorted(curves.items(), key=lambda c: (*c[0][:2], int(c[0][2])))])


def choi_error(name, home, devices):
    """The replay over the model of Choi et al."""
    over = [number(r, "predicted_s") / number(r, "choi_s")
            for r in find(read(name), cut="bands", home=home, devices=devices)]
    return f"{min(over):.2f} to {max(over):.2f}"


def tile_loss(name, home, devices, n, size):
    """What a size takes longer than the best one, by the replay."""
    curve = {r["tile"]: number(r, "predicted_s") for r in find(read(name), home=home, devices=devices, n=n)}
    return f"{100 * (curve[size] / min(curve.values()) - 1):.1f} %"


def command(name):
    """The command that makes a file."""
    told = json.loads((RESULTS / "predictions.json").read_text(encoding="utf-8"))[f"{name}.csv"]
    return f"\n```\n{told['command']} --csv docs/results/predicted/{name}.csv\n```\n"


MAKERS = {maker.__name__.replace("_", "-"): maker for maker in (
    value, speedup, fractions, least, against, errors, error_table, scaling, sizes, published, published_range,
    published_speedups, steps, cluster, cluster_drop, cluster_least, cluster_share, tile_share, loaded,
    from_peers, measured, tiles, choi_error, tile_loss, routines,
    measured_errors, composed_bytes, command)}


def filled(text, where):
    """A page with its marks filled."""
    def fill(match):
        what, *words = shlex.split(match[2])
        if what not in MAKERS:
            raise SystemExit(f"{where}: {match[1]}: there is no such maker; tools/docs/predicted.py has "
                             f"{', '.join(MAKERS)}")
        try:
            made = MAKERS[what](*words)
            if ("\n" in made) != (match.start() == 0 or text[match.start() - 1] == "\n"):
                raise ValueError("a figure must not begin a line, and a table must")
            return match[1] + made + match[4]
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise SystemExit(f"{where}: {match[1]}: {error!r}") from None
    return MARK.sub(fill, text)


def pages():
    """{path: text} of all pages with marks, filled."""
    found = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        if MARK.search(text):
            found[path] = filled(text, path.relative_to(ROOT))
    return found
