# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The figures of Herault et al., "Generic matrix multiplication for multi-GPU accelerated distributed-memory
platforms over PaRSEC", on the machine files of their Summit, by the model alone: 2, the rate of a GPU by the size of
tiles; 3, products across 12 to 432 GPUs; 4 and 5, what a GPU loads beside their equation (1). Blocks of C, chunks of k
and lookahead are those of the paper's rules (tessera plan --model parsec, --cut paper).

  python3 bench/parsec.py --figure 2 --plot figure2.svg
"""
import json
import sys

import pgemm
from tessera_bench import draw
from tessera_bench.options import ROOT, Parser, numbers, pick, run_main
from tessera_bench.results import read_csv, table, write_csv
from tessera_bench.run import beside, call

COLUMNS = ("figure,processes,devices,n,tile,b,c,d,l,case,seconds,tflops_device,share_of_peak,host_bytes,peer_bytes,"
           "equation_bytes").split(",")
PEAK = 7.2  # TFLOP/s of a GPU: "the practical peak of the GEMM kernel", section V
NODE, SOCKET = "summit-node", "v100x3-summit"  # one process a node; two, with a socket each
EXTENT = 70000  # of figure 2
TILES = [384, 512, 768, 1024, 1536, 2048, 3072, 4096]
TILE = 1024  # of the others
# Extents of the local products of figures 4 and 5 on grids of P x P processes: one block of C, then several. The
# greatest has as many tiles as are planned in seconds.
GRIDS = {1: [8192, 24576, 49152, 73728, 98304], 2: [49152, 98304, 122880, 147456, 196608], 4: [98304, 196608, 245760],
         6: [147456, 294912], 8: [196608]}


def plan(args, machine, devices, shape, tile):
    """The plan of one process, as JSON."""
    return json.loads(call([beside(args, "bin/tessera"), "plan", "gemm", "d", *shape, "--machine",
                            ROOT / f"machines/{machine}.json", "--devices", devices, "--tile", tile,
                            "--model", "parsec", "--json", "--alone"]))


def row_of(figure, processes, devices, n, tile, made):
    """What the GPU that loads the most loads; the equation is one for all."""
    cut, most = made["parsec"], max(made["loads"], key=lambda d: d["host"] + d["peers"])
    equation = made["equation"] or {"case": "-", "bytes": 0}
    rate = 2e-12 * n**3 / processes / made["predicted_s"] / devices
    return {"figure": figure, "processes": processes, "devices": devices, "n": n, "tile": tile,
            **{name: cut[name] for name in "bcdl"}, "case": equation["case"], "seconds": made["predicted_s"],
            "tflops_device": rate, "share_of_peak": rate / PEAK, "host_bytes": most["host"],
            "peer_bytes": most["peers"], "equation_bytes": equation["bytes"]}


def by_tiles(args):
    show = table("GPUs:5", "tile:6", "N:7", "blocks:7", "d:4", "l:3", "s:9.3", "TFLOP/s a GPU:14.2", "% of peak:10.1")
    for devices in args.devices:
        for tile in args.tiles:
            n = -(-EXTENT // tile) * tile
            made = plan(args, NODE, devices, (n, n, n), tile)
            row = row_of(2, 1, devices, n, tile, made)
            show(devices, tile, n, f"{made['parsec']['x']}x{made['parsec']['y']}", row["d"], row["l"], row["seconds"],
                 row["tflops_device"], 100 * row["share_of_peak"])
            yield row


def loads(args):
    """The product of one process of a grid: its own rows and columns of C, and all of k."""
    show = table("grid:6", "N:8", "case:5", "loaded GB:10.4", "from host:10.4", "equation:10.4", "of it:7.3",
                 "from peers:10.3")
    for grid, extents in GRIDS.items():
        for n in extents:
            own = n // grid
            made = plan(args, SOCKET, 3, (own, own, n), TILE)
            row = row_of(4, grid * grid, 3, n, TILE, made)
            loaded = row["host_bytes"] + row["peer_bytes"]
            show(f"{grid}x{grid}", n, row["case"], 1e-9 * loaded, 1e-9 * row["host_bytes"],
                 1e-9 * row["equation_bytes"] or None,
                 loaded / row["equation_bytes"] if row["equation_bytes"] else None, row["peer_bytes"] / loaded)
            yield row


def chart_tiles(path, rows):
    def panel(axis):
        for devices in draw.distinct(r["devices"] for r in rows):
            curve = [r for r in rows if r["devices"] == devices]
            axis.plot([r["tile"] for r in curve], [r["tflops_device"] for r in curve], "o-",
                      label=draw.plural(devices, "GPU"))
        axis.axhline(PEAK, linestyle="--", color="#444", label="practical peak")
        draw.name_axes(axis, "dgemm of 70000 from host memory, predicted", "tile", "TFLOP/s a GPU")
        draw.extents_on_x(axis, [r["tile"] for r in rows])
        axis.set_ylim(bottom=0)
    draw.figure(path, [panel])


def chart_loads(path, rows):
    """Figure 4 above, 5 below: runs are sorted by what the equation gives."""
    rows = sorted((r for r in rows if r["equation_bytes"]), key=lambda r: r["equation_bytes"])
    at = range(len(rows))
    bytes_of_tile = 8 * TILE**2

    def tiles(axis):
        axis.plot(at, [r["equation_bytes"] / bytes_of_tile for r in rows], "k_-", label="equation (1)")
        axis.plot(at, [(r["host_bytes"] + r["peer_bytes"]) / bytes_of_tile for r in rows], "o", label="loaded")
        axis.plot(at, [r["host_bytes"] / bytes_of_tile for r in rows], "s", label="from host memory")
        axis.set_yscale("log")
        draw.name_axes(axis, "Tiles that a GPU loads (figure 4)", "run", "tiles")

    def ratios(axis):
        axis.axhline(1, color="k")
        axis.plot(at, [(r["host_bytes"] + r["peer_bytes"]) / r["equation_bytes"] for r in rows], "o", label="loaded")
        axis.plot(at, [r["host_bytes"] / r["equation_bytes"] for r in rows], "s", label="from host memory")
        axis.set_ylim(bottom=0)
        draw.name_axes(axis, "The same over equation (1) (figure 5)", "run", "ratio")
    draw.figure(path, [tiles, ratios])


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[5].strip())
    parser.run_option("--figure", **pick("2", "3", "4", "5"), help="which one (2); 5 comes with 4")
    parser.run_option("--devices", type=numbers(1, 6), metavar="N,...", help="figure 2: GPUs (1,2,3,4,5,6)")
    parser.run_option("--tiles", type=numbers(256, 8192), metavar="T,...",
                      help="figure 2: sizes (384 to 4096; below 384 a plan has 20 million kernels)")
    args = parser.parse(argv)
    parser.refuse(args, ["engine", "machine", "memory", "tile", "check", "repeat", "rate_seconds"], "for a figure")
    if args.source:
        rows = read_csv(args.source, COLUMNS)
        figure = str(int(rows[0]["figure"]))
    else:
        figure = args.figure or "2"
        if figure != "2":
            parser.refuse(args, ["devices", "tiles"], f"for figure {figure}")
        if figure == "3":
            words = [f"--{name}={value}" for name, value in (("csv", args.csv), ("plot", args.plot)) if value]
            return pgemm.main(["--predict", "--cut", "paper", "--networks", "12.5,5", "--peak", str(PEAK), "--machine",
                               str(ROOT / f"machines/{SOCKET}.json"), *words, *(["--force"] if args.force else [])])
        args.devices, args.tiles = args.devices or [1, 2, 3, 4, 5, 6], args.tiles or TILES
        rows = list((by_tiles if figure == "2" else loads)(args))
        if args.csv:
            write_csv(args.csv, COLUMNS, rows)
    if args.plot:
        (chart_tiles if figure == "2" else chart_loads)(args.plot, rows)
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
