# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Products across processes: measured weak and strong scaling, predictions for grids of a machine's
processes, and measured products under the roofs of computing and of the network.

  python3 bench/pgemm.py --processes 1,2,4 --n 8192 --csv weak.csv --mpirun 'mpirun --oversubscribe'
  python3 bench/pgemm.py --predict --machine machines/v100x3-summit.json --plot weak.svg
  python3 bench/pgemm.py --from weak.csv --roofline roofline.svg --machine machine.json
"""
import argparse
import json
import math
import shlex
import sys
import tempfile

from caps import bytes_of
from tessera_bench import draw
from tessera_bench.options import Fail, Parser, built, number, numbers, pick, run_main, texts, whole
from tessera_bench.results import flops, size_of, table, write_csv
from tessera_bench.run import case, machine, passed, rows_of, start

MEASURED = ("mode,type,processes,rows,cols,devices,n,first_s,median_s,predicted_s,gflops,efficiency,"
            "right,transport").split(",")
PREDICTED = ("network_gb_s,rows,cols,lookahead,n,blocks_down,blocks_across,block_rows,depth,seconds,"
             "tflops_device,share_of_peak,fill,starved,changing,received_bytes,sent_bytes").split(",")
CUT = ["block", "depth", "blocks", "network"]  # the driver's words for all cases


def drive(args, lines, more=(), launcher=()):
    program = args.driver or built("bench/tessera-bench-mpi")
    names = ["engine", "machine", "memory", "devices", "repeat", *CUT] if launcher else \
        ["machine", "memory", "devices"]
    driver = start([*launcher, program, "--json", *more, *passed(args, names), *lines])
    return rows_of(driver, all_or_none=not launcher)


# ---- Measured ----


def measure(args):
    strong, rows = args.mode == "strong", []
    grids_of = args.grids or [(1, p) for p in args.processes]  # their processes; the planner's grid
    wanted = [(rows * cols, f"{rows}x{cols}" if args.grids else None, lookahead, by)
              for rows, cols in grids_of for lookahead in args.lookaheads or [args.lookahead]
              for by in (args.transports or [None] if rows * cols > 1 else [None])]
    lines = [case("pgemm", args.type, (args.n if strong else round(args.n * math.sqrt(p)),) * 3,
                  processes=p, grid=grid, transport=by, lookahead=lookahead, cut=args.cut)
             for p, grid, lookahead, by in wanted]
    show = table("processes:9", "grid:7", "devices:7", "by:4", "N:8", "first ms:10.3",
                 "median ms:10.3", "predicted ms:12.3", "GFLOP/s:12.1", "efficiency:10.3")
    more = ["--timeline", args.timeline, "--force"] if args.timeline else []  # checked already
    launcher = [*shlex.split(args.mpirun), "-n", str(max(p for p, *_ in wanted))]
    for found in drive(args, lines, more, launcher):
        row = {c: found.get(c, 0) for c in MEASURED}
        row.update(mode=args.mode, right=1)
        base = rows[0] if rows else row
        row["efficiency"] = (row["gflops"] / row["processes"]) / (base["gflops"] / base["processes"])
        rows.append(row)
        if args.csv:  # what was measured before something fails is still worth having
            write_csv(args.csv, MEASURED, rows)
        show(row["processes"], f"{row['rows']}x{row['cols']}", row["devices"], row["transport"],
             row["n"], 1e3 * row["first_s"], 1e3 * row["median_s"], 1e3 * row["predicted_s"] or None,
             row["gflops"], row["efficiency"])
    return rows


def chart_measured(path, rows):
    def panel(axis):
        for by in draw.distinct(r["transport"] for r in rows):
            some = [r for r in rows if r["transport"] == by]
            axis.plot([r["processes"] for r in some], [r["gflops"] for r in some], "o-",
                      label="measured" + (f", by {by}" if by != "-" else ""))
        base = rows[0]
        at = sorted({r["processes"] for r in rows})
        axis.plot(at, [base["gflops"] * p / base["processes"] for p in at], "--", color="grey",
                  label="as the first for each process")
        draw.name_axes(axis, f"{rows[0]['mode'].capitalize()} scaling", "processes", "GFLOP/s")
        axis.set_ylim(bottom=0)
    draw.figure(path, [panel])


# ---- Predicted ----


def own_tiles(n, tile, count):
    """Own rows of a process, as many tiles as the one with most has."""
    return math.ceil(math.ceil(n / tile) / count)


class Cut:
    """How products of growing extent are cut on a grid of processes like this one."""

    def __init__(self, args, facts):
        self.tile, self.least, self.points = args.block, args.least, args.points
        self.devices = max(facts["devices"], 1)
        self.elements = facts["memory"] / size_of(args.type)  # of a device
        self.has_devices = facts["devices"] > 0
        self.most_elements = 0.9 * args.host_memory / size_of(args.type) / 3  # the rest is for panels

    def block_tiles(self, own):
        """The paper's, to know where it changes to several: C takes three quarters of the devices at
        most, in even blocks."""
        parts = 1
        while self.has_devices and parts < own and \
                (math.ceil(own / parts) * self.tile) ** 2 > 0.75 * self.devices * self.elements:
            parts += 1
        return math.ceil(own / parts)

    def extents(self, grid):
        """In even steps of a factor up to what fills a process's memory, and around the change to
        several blocks of C; each a whole number of tiles for each process."""
        step = self.tile * grid[0]
        most = step
        while math.prod(own_tiles(most + step, self.tile, g) * self.tile for g in grid) \
                <= self.most_elements:
            most += step
        factor = (most / self.least) ** (1 / (self.points - 1))
        found = {int(self.least * factor**i / step + 0.5) * step for i in range(self.points)} | {most}
        last = next((n for n in range(most, 0, -step) if self.block_tiles(
            own_tiles(n, self.tile, grid[0])) == own_tiles(n, self.tile, grid[0])), 0)
        if 0 < last < most:
            found |= {n for n in (last, last + step, last + 2 * step, last + 6 * step)
                      if n >= self.least}
        return sorted(n for n in found if step <= n <= most)


def predict(args):
    def facts_of():
        line = case("pgemm", args.type, (4096,) * 3, grid="2x2")
        return next(drive(args, [line], ["--predict"]))

    cut, wanted = Cut(args, facts_of()), []
    for network in args.networks or [None]:
        for grid in args.grids:
            for lookahead in args.lookaheads:
                for n in cut.extents(grid):
                    words = {"network": network, "block": args.block, "lookahead": lookahead,
                             "cut": args.cut}
                    wanted.append((lookahead, case("pgemm", args.type, (n,) * 3,
                                                   grid=f"{grid[0]}x{grid[1]}", **words)))
    show = table("GB/s:6.4", "grid:7", "l:2", "N:9", "blocks of C:11", "b:7", "d:6", "s:10.3",
                 "TFLOP/s:9.1", "a dev.:7.3", "% peak:6.1", "devices wait s:14.3")
    rows = []
    # A driver takes so many cases at a time.
    for first in range(0, len(wanted), 500):
        some = wanted[first:first + 500]
        for (lookahead, _), p in zip(some, drive(args, [line for _, line in some], ["--predict"])):
            rate = flops("gemm", args.type, p["m"], p["n"], p["k"]) / p["predicted_s"]
            each = rate / p["processes"] / max(p["devices"], 1)
            rows.append({**p, "network_gb_s": (p["network"] or 10e9) * 1e-9, "lookahead": lookahead,
                         "seconds": p["predicted_s"], "tflops_device": each * 1e-12,
                         "share_of_peak": each / (args.peak * 1e12 if args.peak else p["peak"])})
            r = rows[-1]
            show(r["network_gb_s"], f"{r['rows']}x{r['cols']}", p["lookahead"] or lookahead, r["n"],
                 f"{r['blocks_down']}x{r['blocks_across']}", r["block_rows"], r["depth"],
                 r["seconds"], rate * 1e-12, r["tflops_device"], 100 * r["share_of_peak"],
                 r["fill"] + r["starved"] + r["changing"])
    return rows


def series_of(rows):
    """By network, grid and lookahead."""
    found = {}
    for row in rows:
        found.setdefault((row["network_gb_s"], row["rows"], row["cols"], row["lookahead"]),
                         []).append(row)
    return found


def sum_up(rows):
    """The last point of each series, and what changes at several blocks of C."""
    print()
    for (network, grid_rows, cols, lookahead), series in series_of(rows).items():
        one = [r for r in series if r["blocks_down"] * r["blocks_across"] == 1]
        several = [r for r in series if r["blocks_down"] * r["blocks_across"] > 1
                   and one and r["n"] > one[0]["n"]]
        text = (f"{network:g} GB/s {grid_rows}x{cols} l = {lookahead}: largest N {series[-1]['n']}: "
                f"{100 * series[-1]['share_of_peak']:.1f} % of the peak")
        if one and several:
            text += (f"; one block of C {100 * one[-1]['share_of_peak']:.1f} %, several at least "
                     f"{100 * min(r['share_of_peak'] for r in several):.1f} %")
        print(text)


def chart_predicted(path, rows):
    series, lookaheads = series_of(rows), draw.distinct(r["lookahead"] for r in rows)
    grids = draw.distinct((r["rows"], r["cols"]) for r in rows)

    def panel(network):
        def draw_panel(axis):
            for (of, grid_rows, cols, lookahead), points in series.items():
                if of == network:
                    axis.plot([r["n"] / 1000 for r in points],
                              [100 * r["share_of_peak"] for r in points],
                              "-" if lookahead == lookaheads[0] else ":", marker=".",
                              color=f"C{grids.index((grid_rows, cols))}",
                              label=f"{grid_rows} x {cols}, l = {lookahead}")
            draw.name_axes(axis, f"Predicted, {network:g} GB/s of network a process", "N, thousands",
                           "% of the devices' peak")
            axis.set_xscale("log")
            axis.set_ylim(bottom=0)
        return draw_panel

    draw.figure(path, [panel(n) for n in draw.distinct(r["network_gb_s"] for r in rows)])


# ---- Roofs ----


def read_measured(paths):
    """Files of this program, or what examples/summa.c printed, which has no head and no transport."""
    rows = []
    for path in paths.split(","):
        try:
            with open(path, encoding="utf-8") as file:
                lines = [line.strip().split(",") for line in file]
        except OSError as error:
            raise Fail(f"{path}: {error.strerror}") from None
        for line in lines:
            if len(line) >= 13 and line[0] in ("weak", "strong", "summa"):
                row = dict(zip(MEASURED, line + ["-"]))
                rows.append({c: v if c in ("mode", "type", "transport") else float(v)
                             for c, v in row.items()})
    return [{**r, **{c: int(r[c]) for c in ("processes", "rows", "cols", "devices", "n")}}
            for r in rows]


def roofline(args, rows):
    """Of one process: its rate over the flops for each byte that it receives."""
    rows = [r for r in rows if r["processes"] > 1]
    if not rows:
        raise Fail(f"{args.source}: no products on several processes")
    args.type = rows[0]["type"]
    line = case("pgemm", args.type, (4096,) * 3, grid="2x2")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as here:
        if not args.machine:
            json.dump(machine(args), here)
            here.flush()
            args.machine = here.name
        there = next(drive(args, [line], ["--predict"]))
    peak = 1e3 * args.peak if args.peak else 1e-9 * there["peak"] * max(there["devices"], 1)
    network = args.network or (there["network"] or 10e9) * 1e-9
    points = []
    show = table("mode:8", "flops a byte:14.1", "GFLOP/s:12.2", "roof:12.2", "% of it:9.1")
    for r in rows:
        work = flops("gemm", r["type"], r["n"], r["n"], r["n"]) / r["processes"]
        received = size_of(r["type"]) * r["n"]**2 * ((1 - 1 / r["cols"]) / r["rows"]
                                                     + (1 - 1 / r["rows"]) / r["cols"])
        points.append((r["mode"], work / received, 1e-9 * work / r["median_s"]))
        roof = min(peak, network * points[-1][1])
        show(*points[-1], roof, 100 * points[-1][2] / roof)

    def panel(axis):
        ridge = peak / network
        at = [min([x for _, x, _ in points] + [ridge / 4]), ridge,
              max([x for _, x, _ in points] + [ridge * 4])]
        axis.plot(at, [min(peak, network * x) for x in at], "--", color="grey",
                  label=f"{network:.3g} GB/s; {peak:.4g} GFLOP/s")
        for mode in draw.distinct(p[0] for p in points):
            axis.scatter(*zip(*(p[1:] for p in points if p[0] == mode)), label=mode, zorder=3)
        axis.set_xscale("log")
        axis.set_yscale("log")
        draw.name_axes(axis, "Products across processes, of one process",
                       "flops for each byte that it receives", "GFLOP/s")

    if args.roofline:
        draw.figure(args.roofline, [panel])


# ---- Options ----


def grids(text):
    found = [tuple(whole(1, 2**15)(e) for e in one.split("x")) for one in text.split(",")]
    if any(len(grid) != 2 for grid in found):
        raise argparse.ArgumentTypeError(f"{text}: must be PxQ,... such as 2x2,4x4")
    return found


def rates(text):
    return [number(1e-3, 1e6)(part) for part in text.split(",")]


MEASURE_ONLY = ["mode", "n", "processes", "transports", "mpirun", "timeline", "engine", "repeat",
                "depth", "blocks", "lookahead", "network"]
PREDICT_ONLY = ["least", "points", "host_memory", "networks"]


def make_parser():
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[3].strip())
    add = parser.run_option
    add("--type", choices=list("sdczhb"), metavar="T", help="(d)")
    add("--devices", metavar="N", help="of a node: they are dealt to its processes")
    add("--block", type=whole(1), metavar="N",
        help="blocks in which the matrices are dealt (256; predicted 1024)")
    add("--mode", **pick("weak", "strong"), help="the extent grows with the processes, or stays (weak)")
    add("--n", type=whole(1), metavar="N", help="weak: of one process; strong: of all (8192)")
    add("--processes", type=numbers(1, 2**15), metavar="N,...", help="numbers of them (1,2,4)")
    add("--transports", type=texts(["auto", "mpi", "nccl"]), metavar="auto|mpi|nccl,...",
        help="how panels travel: each in turn, on the same data")
    add("--depth", type=whole(1), metavar="N", help="extent of panels in k (by model)")
    add("--lookahead", type=whole(0, 16), metavar="N", help="panels on their way (by model)")
    add("--grids", type=grids, metavar="PxQ,...",
        help="grids of processes, in place of --processes (predicted: 2x2 to 12x12)")
    add("--lookaheads", type=numbers(0, 16), metavar="N,...",
        help="several, each in turn; 0: by the model (predicted: 1,2)")
    add("--cut", **pick("model", "paper"),
        help="what chooses blocks, depth and lookahead: predictions, or the rules of Herault et al. (model)")
    add("--blocks", metavar="RxC", help="blocks of C in a process's own rows and columns (by model)")
    add("--mpirun", metavar="WORDS", help="what starts processes (mpirun)")
    add("--timeline", metavar="FILE.json", help="what one more product, the last, did over time")
    add("--predict", action="store_true", default=None,
        help="replay schedules in place of measuring; without MPI and devices, and with:")
    add("--least", type=whole(1), metavar="N", help="extent to begin with (50000)")
    add("--points", type=whole(2, 50), metavar="N", help="extents of each grid, about (10)")
    add("--host-memory", metavar="BYTES", help="of a process: the largest product fills 90 %% of it (256G)")
    add("--networks", type=rates, metavar="GB/S,...", help="of the network (as the machine says)")
    parser.add_argument("--network", type=number(1e-3, 1e6), metavar="GB/S",
                        help="what a process sends, and receives: for predictions, and with --from")
    parser.add_argument("--peak", type=number(1e-6, 1e6), metavar="TFLOP/S",
                        help="predicted: of a device; with --from, of a process")
    parser.add_argument("--roofline", metavar="FILE", help="with --from: draw points under their roofs")
    return parser


def main(argv):
    parser = make_parser()
    args = parser.parse_args(argv)
    parser.refuse(args, ["tile", "check", "rate_seconds"], "across processes")
    if args.source:
        parser.refuse(args, [a.dest for a in parser.measuring
                             if a.dest not in ("machine", "devices", "driver")], "with --from")
        args.memory = None
    elif args.predict:
        parser.refuse(args, MEASURE_ONLY, "with --predict")
    else:
        parser.refuse(args, PREDICT_ONLY + ["peak"], "without --predict")
        for names, with_it in ((["processes"], "grids"), (["lookahead"], "lookaheads")):
            if getattr(args, with_it):
                parser.refuse(args, names, f"beside --{with_it}")
    if args.roofline and not args.source:
        parser.error("--roofline: needs --from, the points to draw")
    if args.predict and not args.machine:
        parser.error("--machine: is needed, such as machines/v100x3-summit.json")
    defaults = {"type": "d", "block": 1024 if args.predict else 256, "mode": "weak", "n": 8192,
                "processes": [1, 2, 4], "mpirun": "mpirun", "least": 50000, "points": 10,
                "host_memory": "256G"}
    if args.predict:
        defaults.update(lookaheads=[1, 2], cut="model", grids=[(g, g) for g in (2, 4, 6, 8, 10, 12)])
    for name, value in defaults.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    try:
        args.host_memory = bytes_of(args.host_memory)
    except ValueError:
        parser.error(f"--host-memory: {args.host_memory}: must be bytes such as 256G")
    if args.source:
        rows = read_measured(args.source)
        roofline(args, rows)
        if args.plot:
            chart_measured(args.plot, rows)
        return
    rows = predict(args) if args.predict else measure(args)
    if args.predict:
        sum_up(rows)
    if args.csv and args.predict:
        write_csv(args.csv, PREDICTED, rows)
    if args.plot:
        (chart_predicted if args.predict else chart_measured)(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
