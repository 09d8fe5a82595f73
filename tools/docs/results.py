#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The pages of results, one for each machine, and the picture of the README, from the CSV files in
docs/results/measured; docs/results/runs.json says when, where and how each file came about. And what pages
quote from docs/results/predicted (predicted.py), whose files predictions.py makes.
Usage: results.py [--update]; without --update it names the pages that differ, and fails."""
import csv
import json
import math
import sys
from pathlib import Path

import picture
import predicted
import reached

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
PICTURE = RESULTS / "h200x4.svg"


def read(name):
    with open(RESULTS / "measured" / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(heads, rows):
    line = "| {} |\n".format
    return "".join(map(line, [" | ".join(heads), " | ".join(["---"] * len(heads)), *map(" | ".join, rows)]))


def ratio(row):
    """How many times as fast as the peer; 0: there was none."""
    return float(row["peer_s"]) / float(row["median_s"]) if row["peer_s"] else 0


def block(row):
    """The block extent with which the peer was fastest, as " (2048)"; "": nobody noted it."""
    return f" ({row['peer_block']})" if row.get("peer_block") else ""


def three_digits(value):
    """1616.3 as 1620, 47.438 as 47.4."""
    return f"{float(f'{value:.3g}'):g}"


def budget(text):
    return "none" if text in ("", "0") else f"{int(text) / 1e9:g} GB"


def rates(rows):
    """A line for each routine, type, place and number of devices, a column for each extent."""
    sizes = sorted({int(row["n"]) for row in rows})
    lines = {}
    for row in rows:
        name = (f"{row['type']}{row['op']}", row["home"], row["devices"])
        cell = f"{three_digits(float(row['tflops']))}, {float(row['fraction']):.2f}"
        lines.setdefault(name, {})[int(row["n"])] = cell + (f", {ratio(row):.1f}" if ratio(row) else "") + block(row)
    text = ("TFLOP/s, the fraction of the floor's rate" +
            (", and how many times as fast as cuBLASXt in the same run" if any(map(ratio, rows)) else "") +
            (" (with the block extent that was its best)" if any(map(block, rows)) else "") + ":\n\n")
    heads = ["routine", "home", "GPUs", *map(str, sizes)]
    return text + table(heads, [[*name, *(cells.get(n, "") for n in sizes)] for name, cells in lines.items()])


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def points(rows):
    """What many different shapes and placements have in common."""
    fractions = [float(row["fraction"]) for row in rows]
    errors = [float(row["predicted_s"]) / float(row["median_s"]) for row in rows]
    ratios = [ratio(row) for row in rows if ratio(row)]
    least = min(rows, key=lambda row: float(row["fraction"]))
    shape = f"{least['m']} x {least['n']} x {least['k']} at {least['home']}"
    cells = [("products", str(len(rows))),
             ("fraction of the floor's rate, geometric mean", f"{mean(fractions):.3f}"),
             ("the least", f"{min(fractions):.3f} ({shape})"),
             ("predicted / measured time", f"{min(errors):.2f} to {max(errors):.2f}, mean {mean(errors):.2f}"),
             ("times as fast as cuBLASXt, geometric mean", f"{mean(ratios):.1f}"),
             ("slower than cuBLASXt", str(sum(r < 1 for r in ratios)))]
    return table(["", ""], cells)


def once(rows, *names):
    """The first row of each run: a file may have a row for each device of it."""
    return list({tuple(row[name] for name in names): row for row in reversed(rows)}.values())[::-1]


def caps(rows):
    cells = [[f"{r['type']}{r['op']}", r["n"], r["devices"], budget(r["cap"]),
              f"{float(r['median_s']):.2f}", f"{float(r['tflops']):.1f}", f"{float(r['of_uncapped']):.2f}"]
             for r in once(rows, "type", "op", "n", "devices", "cap")]
    return table(["routine", "N", "GPUs", "budget of a GPU", "s", "TFLOP/s", "of the rate without"], cells)


def composed(rows):
    cells = [[r["n"], r["devices"], r["calls"], f"{float(r['median_s']) * 1e3:.1f}", f"{float(r['tflops']):.1f}",
              f"{float(r['host_to_device']) / 1e9:.2f}", f"{float(r['device_to_host']) / 1e9:.2f}",
              f"{float(r['floor_in']) / 1e9:.2f}, {float(r['floor_out']) / 1e9:.2f}"] for r in rows]
    return ("trsm, then a gemm with its result:\n\n" +
            table(["N", "GPUs", "calls", "ms", "TFLOP/s", "GB in", "GB out", "the least"], cells))


def processes(rows):
    cells = [[r["n"], f"{r['processes']} x {r['devices']}", f"{r['rows']} x {r['cols']}",
              {"-": "none", "nccl": "NCCL", "mpi": "MPI"}[r["transport"]], f"{float(r['median_s']) * 1e3:.1f}",
              f"{float(r['gflops']) / 1e3:.0f}"] for r in rows]
    return table(["N", "processes x GPUs", "grid", "transport", "ms", "TFLOP/s"], cells)


def engines(rows):
    """A line for each call: the rates of two engines that took turns."""
    pairs = list(zip(rows[::2], rows[1::2]))
    first, second = pairs[0][0]["engine"], pairs[0][1]["engine"]
    cells = [[f"{a['type']}{a['op']}", a["n"], a["home"], three_digits(float(a["tflops"])),
              three_digits(float(b["tflops"])), f"{float(b['ratio']):.3f}"] for a, b in pairs]
    return (table(["routine", "N", "home", f"{first}, TFLOP/s", f"{second}, TFLOP/s", f"{second} / {first}"], cells) +
            f"\nRatio, geometric mean: {mean([float(b['ratio']) for _, b in pairs]):.3f}.\n")


def calls(rows):
    """A line for each call, of whatever shape; with the energy of a call where it was measured."""
    joules = any(row.get("joules") for row in rows)
    cells = []
    for row in rows:
        extents = [row[e] for e in "mnk"]
        shape = extents[0] if len(set(extents)) == 1 else " x ".join(extents)
        seconds = float(row["median_s"])
        cells.append([f"{row['type']}{row['op']}", shape, row["words"], row["home"],
                      row["devices"] if row["devices"] != "0" else "as many as help",
                      three_digits(float(row["tflops"])), f"{float(row['floor_s']) / seconds:.2f}",
                      f"{float(row['predicted_s']) / seconds:.2f}"])
        if joules:
            cells[-1].append(three_digits(float(row["joules"])) if row["joules"] else "")
    errors = [float(row["predicted_s"]) / float(row["median_s"]) for row in rows]
    return (table(["routine", "extents", "words", "home", "GPUs", "TFLOP/s", "of the floor's rate",
                   "predicted / measured time"] + ["joules"] * joules, cells) +
            f"\nPredicted / measured time, geometric mean: {mean(errors):.3f}; within 5 %: "
            f"{sum(abs(e - 1) <= 0.05 for e in errors)} of {len(errors)}.\n")


def goals(rows, wanted):
    """A line for each goal [TFLOP/s] on all GPUs of the file: the best rate of its runs beside what binds."""
    cells = []
    most = max(int(row["devices"]) for row in rows)
    for name, goal in wanted.items():
        routine, extent = name.split()
        mine = [row for row in rows if f"{row['type']}{row['op']}" == routine and row["n"] == extent
                and "emulated" in row["words"] and int(row["devices"]) == most]
        best = min(mine, key=lambda row: float(row["median_s"]))
        rate, fraction = float(best["tflops"]), float(best["floor_s"]) / float(best["median_s"])
        cells.append([routine, extent, str(goal), three_digits(rate), three_digits(rate / fraction), f"{fraction:.2f}",
                      f"{float(best['predicted_s']) / float(best['median_s']):.2f}"])
    return table(["routine", "N", "goal, TFLOP/s", "measured", "the floor's rate", "of it", "predicted / measured time"],
                 cells)


def summa(rows):
    """A line for each extent, a column for each configuration of bench/summa.py."""
    names = {"cpu": "one CPU", "gpu": "one GPU", "1d": "1D over processes", "2d": "2D SUMMA"}
    cells = {}
    for row in rows:
        cells.setdefault(row["n"], {})[row["config"]] = three_digits(float(row["gflops"]) / 1e3)
    return "TFLOP/s:\n\n" + table(["N", *names.values()],
                                  [[n, *(found.get(name, "") for name in names)] for n, found in cells.items()])


def level3(rows):
    """A line for each routine, type and place, a column for each extent: TFLOP/s, the fraction of the floor's rate and
    GEMM's in the same run."""
    gemm = {(r["type"], r["home"], r["n"]): float(r["fraction"]) for r in rows if r["op"] == "gemm"}
    sizes = sorted({int(row["n"]) for row in rows})
    lines = {}
    for row in rows:
        seconds = float(row["median_s"])
        cell = (f"{three_digits(float(row['tflops']))}, {float(row['fraction']):.2f} of "
                f"{gemm.get((row['type'], row['home'], row['n']), 0):.2f}, {float(row['predicted_s']) / seconds:.2f}")
        lines.setdefault((f"{row['type']}{row['op']}", row["home"]), {})[int(row["n"])] = cell
    return ("TFLOP/s, the fraction of the floor's rate \"of\" that of GEMM in the same run, predicted / measured time:\n\n" +
            table(["routine", "home", *map(str, sizes)],
                  [[*name, *(cells.get(n, "") for n in sizes)] for name, cells in lines.items()]))


def sizes(rows):
    """A line for each size of tiles, a column for each way of cutting (bench/tiles.py)."""
    cuts = list(dict.fromkeys(row["cut"] for row in rows))
    lines = {}
    for row in rows:
        seconds = float(row["measured_s"])
        cell = f"{three_digits(float(row['tflops']))}, {float(row['predicted_s']) / seconds:.2f}"
        picked = " and ".join(row["picked_by"].split())
        lines.setdefault(row["tile"], {})[row["cut"]] = f"{cell} ({picked})" if picked else cell
    return ("TFLOP/s, predicted / measured time by the replay; in brackets which model takes this size, and which was the "
            "best measured:\n\n" +
            table(["size", *cuts], [[size, *(cells.get(cut, "") for cut in cuts)] for size, cells in lines.items()]))


def steps(rows):
    """A line for each technique, a column for each extent (bench/ablation.py)."""
    extents = list(dict.fromkeys(row["n"] for row in rows))
    lines = {}
    for row in rows:
        lines.setdefault(row["step"], {})[row["n"]] = (
            f"{three_digits(float(row['measured_s']) * 1e3)}, {float(row['measured_step']):.2f}x of {float(row['predicted_step']):.2f}x")
    return ("ms; what the step is worth, measured \"of\" predicted:\n\n" +
            table(["step", *extents], [[name, *(cells[n] for n in extents)] for name, cells in lines.items()]))


def skinny(rows):
    """A line for each product of bench/skinny.py: ms on the devices that were chosen, on one, and by the CPU's BLAS."""
    cells = []
    for row in rows:
        ours, one, cpu = (float(row[name]) for name in ("median_s", "one_device_s", "cpu_s"))
        cells.append([" x ".join(row[e] for e in "mnk"), row["devices"], three_digits(1e3 * ours), three_digits(1e3 * one),
                      three_digits(1e3 * cpu), f"{float(row['predicted_s']) / ours:.2f}"])
    return table(["extents", "GPUs", "ms", "ms, one GPU", "ms, the CPU's BLAS", "predicted / measured time"], cells)


KINDS = {"calls": calls, "skinny": skinny, "level3": level3, "engines": engines, "rates": rates, "points": points, "caps": caps, "composed": composed,
         "processes": processes, "summa": summa, "sizes": sizes, "steps": steps}


def section(run):
    rows = [row for name in run["csv"].split() for row in read(name)]
    body = goals(rows, run["goals"]) if run["kind"] == "goals" else KINDS[run["kind"]](rows)
    body += f"\n{run['learnt']}\n" if "learnt" in run else ""
    return (f"## {run['title']}\n\n{run['date']}, commit {run['commit']}, {', '.join(f'[{name}](measured/{name})' for name in run['csv'].split())}:\n\n"
            f"```\n{run['command']}\n```\n\n{body}\n")


def page(name, told, runs):
    """A page: what was reached, a picture, then the tables."""
    shown = ("![Rate against N, beside cuBLASXt and the limit](h200x4.svg)" if name == "h200x4" else
             f"![The best rate of each routine beside its limit]({name}.svg)")
    return (f"<!-- Made by tools/docs/results.py from runs.json and the CSV files in measured/. -->\n"
            f"# {told['title']}\n\n{told['machine']}.\n\n{told['note']} Data are random with full mantissas, and every result "
            f"is checked in the same run. `h,h,h` says that A, B and C are in pinned host memory, `0,0,0` that they are on "
            f"GPU 0. [The floor](../explain/floor.md) is a lower bound on the time.\n\n"
            f"{reached.text(runs, read)}\n{shown}\n\n" + "\n".join(map(section, runs)))


def picture_of_page(about, runs):
    return picture.bars(f"The best rates on {about['title'].lower().replace('nvidia ', 'NVIDIA ').replace('h200', 'H200').replace('h100', 'H100')}",
                        "TFLOP/s; the mark is the limit, the rate at the floor", reached.bars(runs, read))


SOCKETS = """# What knowing the sockets is worth

{reached}

![How many times as fast plans are that know the sockets, at 8192](sockets.svg)

By replay: nobody measured these machines. Each call is planned twice, by the machine and by a description that lacks
its sockets: no link between them, and each GPU reaches all host memory as it reaches its own. Both plans are replayed
on the machine ([predicted/sockets.csv](predicted/sockets.csv)):

```
build/bench/tessera-bench-sockets machines/a100x8-sockets.json machines/h200x8-sockets.json \\
  'host*2:150 sockets:20 gpu*8:80@nvswitch:250 pcie:24 rate:17.2 hbm:1800' >docs/results/predicted/sockets.csv
```

A cell has the milliseconds of the plan that does not know the sockets, those of the plan that does, how many times as
fast that is, and its fraction of the floor. Homes are those of A, B and C: `h0` and `h1` are pinned memory of the first
and the second socket, `hi` is interleaved over both. All GPUs reach each other over a switch.

"""


def sockets_rows(machine=None):
    with open(RESULTS / "predicted/sockets.csv", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if machine in (None, row["machine"])]


def gain(row):
    return float(row["unknowing_s"]) / float(row["knowing_s"])


def sockets_reached(machine):
    """A line for each machine."""
    rows = sockets_rows(machine)
    most, least = max(rows, key=gain), min(rows, key=gain)
    fractions = [float(row["floor_s"]) / float(row["knowing_s"]) for row in rows]
    homes = [row["home"].replace(";", ",") for row in (most, least)]
    return (f"- `{machine}`: plans that know the sockets are {mean(list(map(gain, rows))):.2f} times as fast in the mean of {len(rows)} calls, "
            f"{gain(most):.2f} times at most ({most['routine']} {most['n']} at {homes[0]}) and {gain(least):.2f} at least "
            f"({least['routine']} {least['n']} at {homes[1]}); they reach {mean(fractions):.2f} of the floor's rate.")


def picture_of_sockets():
    names = {m: Path(m).stem.split("-")[0] if m.endswith(".json") else "string" for m in (r["machine"] for r in sockets_rows())}
    found = [(f"{names[r['machine']]}, {r['routine']}, {r['home'].replace(';', ',')}",
              "ours" if r["routine"].startswith("d") else "peer", gain(r), 1)
             for r in sockets_rows() if r["n"] == "8192"]
    return picture.bars("Plans that know the sockets beside those that do not, at 8192", "times as fast; the mark is 1; \"string\" is the machine of the last section", found)


def sockets():
    """The page of the sockets."""
    rows = sockets_rows()
    text = ("<!-- Made by tools/docs/results.py from predicted/sockets.csv. -->\n" +
            SOCKETS.format(reached="\n".join(map(sockets_reached, dict.fromkeys(r["machine"] for r in rows)))))
    sizes = sorted({int(row["n"]) for row in rows})
    for machine in dict.fromkeys(row["machine"] for row in rows):
        lines, mine = {}, [row for row in rows if row["machine"] == machine]
        for row in mine:
            unknowing, knowing, floor = (float(row[name]) for name in ("unknowing_s", "knowing_s", "floor_s"))
            cell = (f"{three_digits(1e3 * unknowing)}, {three_digits(1e3 * knowing)}: {unknowing / knowing:.2f}, "
                    f"{floor / knowing:.2f}")
            lines.setdefault((row["routine"], row["home"].replace(";", ",")), {})[int(row["n"])] = cell
        gains = [float(row["unknowing_s"]) / float(row["knowing_s"]) for row in mine]
        text += (f"## `{machine}`\n\n" +
                 table(["routine", "home", *map(str, sizes)],
                       [[*name, *(cells.get(n, "") for n in sizes)] for name, cells in lines.items()]) +
                 f"\nTimes as fast, geometric mean: {mean(gains):.2f}; from {min(gains):.2f} to {max(gains):.2f}.\n\n")
    return text.rstrip("\n") + "\n"


ERRORS = """# Errors on hard data

{reached}

![The largest errors in fp64, native and emulated](errors.svg)

The largest |error| / (|A||B|) of an element of C, in units of the unit roundoff u of the type (complex: of 2 sqrt(2) u),
against sums in quadruple precision: of the native product, then of the emulated one. Both are promised to be at most
k + 2 where nothing over- or underflows ([emulated products](../explain/arithmetic.md)).
{date}, commit {commit}, {machine} ([{csv}](measured/{csv})):

```
{command}
```

The command fails if an emulated element breaks the bound, if integers do not come out exactly, or if infinite elements or
NaN are elsewhere than natively. On GPUs (`--engine cuda`) the emulated products have the same bits, and the native ones
are the vendor's.

{table}
"native" in place of the second figure says that the accuracy could not be promised for the data, so that the product was computed natively.
Subnormal data underflow: the native product rounds each of its summands to the smallest number, the emulated one the result alone.

| family | data |
| --- | --- |
| uniform | between -0.5 and 0.5, with full mantissas |
| graded | within a row of A the magnitudes fall, within a column of B they rise, by factors of 2 up to 2^39 |
| spread | each element has an exponent from -300 to 300 (fp32: -30 to 30) |
| cancelling | the second half of each sum takes the first half back, but for 2^-45 (fp32: 2^-20) |
| hilbert | 1 / (i + h + 1) |
| sparse | 9 of 10 elements are 0, and a row and a column are |
| integer | integers below 2^15 (fp32: 2^7), whose sums fit the type |
| subnormal | those of A are subnormal |
| lines | whole rows of A and columns of B have exponents from -300 to 300 (fp32: -30 to 30) |
| infinite, nan | uniform; 1 of 97 is infinite, 1 of 211 is NaN; the errors are those of finite elements |
| long | uniform, with a long k |
"""


def accuracy(row):
    """The errors of a native product and of an emulated one."""
    natively, parts = int(row["natively"]), int(row["parts"])
    if natively == parts:
        return f"{row['native']}, native"
    some = f" ({natively} of {parts} parts natively)" if natively else ""
    return f"{row['native']}, {row['emulated']}{some}"


def is_emulated(row):
    return row["natively"] != row["parts"]


TYPES = {"s": "fp32", "d": "fp64", "c": "fp32 complex", "z": "fp64 complex"}


def errors_reached(rows):
    families = list(dict.fromkeys(row["family"] for row in rows))
    normal = [row for row in rows if row["family"] != "subnormal"]
    shown = [row for row in normal if is_emulated(row) and float(row["emulated"]) > 0 and float(row["native"]) > 0]
    worst = max(shown, key=lambda row: float(row["emulated"]))
    better = sum(float(row["emulated"]) < float(row["native"]) for row in shown)
    ratios = [float(row["native"]) / float(row["emulated"]) for row in shown]
    kept = sum(max(float(row["native"]), float(row["emulated"])) <= float(row["bound"]) for row in normal)
    return (f"- {len(rows)} products of {len(families)} families of hard data were checked. Both products keep to the bound k + 2 in {kept} of "
            f"the {len(normal)} cases without subnormal data.\n"
            f"- Emulated products have a largest error of {worst['emulated']} u there ({worst['family']} in {TYPES[worst['type']]}), "
            f"where {worst['bound']} is promised; it is smaller than the native product's in {better} of {len(shown)} cases, "
            f"{mean(ratios):.1f} times in the mean.\n"
            f"- In {sum(not is_emulated(row) for row in rows)} cases the accuracy could not be promised for the data, and the product was "
            f"computed natively as a whole; in {sum(0 < int(r['natively']) < int(r['parts']) for r in rows)} in part.")


def picture_of_errors(rows):
    found = []
    for row in (r for r in rows if r["type"] == "d"):
        found.append((f"{row['family']}, native", "peer", float(row["native"]), float(row["bound"])))
        if is_emulated(row):
            found.append((f"{row['family']}, emulated", "ours", float(row["emulated"]), float(row["bound"])))
    return picture.bars("The largest errors in fp64", "units of the roundoff, on a logarithmic axis; the mark is the bound", found,
                        least=0.01)


def errors(run):
    """The page of errors on hard data."""
    lines = {}
    for row in read(run["csv"]):
        name = (row["family"], f"{row['n']} x {row['n']}, {row['k']}", row["bound"])
        lines.setdefault(name, {})[row["type"]] = accuracy(row)
    rows = [[*name, *(cells[t] for t in TYPES)] for name, cells in lines.items()]
    return ("<!-- Made by tools/docs/results.py from measured/errors.csv. -->\n" +
            ERRORS.format(**run, reached=errors_reached(read(run["csv"])), table=table(["data", "C, k", "bound", *TYPES.values()], rows)))


def picture_of_rates():
    rows = [r for r in read("h200x4-regular.csv") if r["home"] == "h,h,h" and r["devices"] == "4"]
    def curve(seconds):
        return [(int(r["n"]), 2 * int(r["n"]) ** 3 / float(r[seconds]) / 1e12) for r in rows]
    return picture.rates("DGEMM on 4 NVIDIA H200, matrices in host memory",
                         [("limit", "floor", curve("floor_s")),
                          ("Tessera", "ours", curve("median_s")), ("cuBLASXt", "peer", curve("peer_s"))])


def made():
    """{path: text} of all that is made."""
    told = json.loads((RESULTS / "runs.json").read_text(encoding="utf-8"))
    runs = {name: [r for r in told["runs"] if r["page"] == name] for name in told["pages"]}
    texts = {RESULTS / f"{name}.md": page(name, about, runs[name]) for name, about in told["pages"].items()}
    texts |= {RESULTS / f"{name}.svg": picture_of_page(about, runs[name]) for name, about in told["pages"].items()
              if name != "h200x4"}
    texts |= {RESULTS / "sockets.svg": picture_of_sockets(), RESULTS / "errors.svg": picture_of_errors(read(told["errors"]["csv"]))}
    return {**predicted.pages(), **texts, RESULTS / "sockets.md": sockets(), RESULTS / "errors.md": errors(told["errors"]),
            PICTURE: picture_of_rates()}


def main(update=None):
    differ = [path for path, text in made().items()
              if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in differ if update else []:
        path.write_text(made()[path], encoding="utf-8")
    if differ and not update:
        sys.exit(f"{', '.join(str(p.relative_to(ROOT)) for p in differ)}: differ from the CSV files: "
                 "python3 tools/docs/results.py --update")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--update"]):
        sys.exit(__doc__)
    main(*sys.argv[1:])
