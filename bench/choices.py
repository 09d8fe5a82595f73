# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the planner's choices are worth by its own model: calls as it plans them beside the same calls
with a choice made for it, or with less of something. Nothing is measured, and no device is needed.
Ratios above 1: the planner's own choice is faster.

  python3 bench/choices.py --csv choices.csv
  python3 bench/choices.py --only memory,lookahead
"""
import sys

from tessera_bench.options import ROOT, Parser, built, run_main, texts
from tessera_bench.results import table, write_csv
from tessera_bench.run import case, measure, rows_of, start

COLUMNS = "part,case,own,own_s,other,other_s,ratio".split(",")
SUMMIT = "host:150 gpu*3:16@nvlink:50 pcie:50 rate:7.2 net:12.5"
NCCL = "host:200 gpu*1:141@nvlink:300 pcie:55 rate:60 net:12"


def shipped(name):
    return ROOT / "machines" / (name + ".json")


def beside(op, shape, machine, strategy, **more):
    """A call as it is planned, and by a strategy; both on all devices of the machine."""
    own = dict(more, machine=machine)
    return (op, shape, own, "planned", dict(own, strategy=strategy), strategy)


def rank_updates():
    """Blocks on the diagonal are computed where C is at home: narrow n-blocks, and no tapering."""
    for n in (4096, 8192, 16384):
        for op, home in (("syrk", "0,0"), ("syr2k", "0,0,0")):
            yield beside(op, (n, n, n), shipped("a100x8"), "kpanel=0 nblock.last=512 taper=0 piece=32M "
                         "c=first", home=home, devices=8)


def home_device():
    """A C that is at home on one device comes back by its port: that device should compute more."""
    yield beside("gemm", (16384, 16384, 1024), shipped("h200x4"),
                 "grid=1x4 share=150 kpanel=0 c=last add=home", home="h,h,0", devices=4)


def staged():
    """Pageable: all devices work on the columns that are staged, so the grid is of rows."""
    yield beside("gemm", (28672, 28672, 1792), shipped("h200x8"),
                 "grid=8x1 kpanel=0 nblock=256,256,256 c=last", home="u", devices=8)


def memory():
    """Little memory costs little time."""
    shape = (70000, 70000, 70000)
    own = {"machine": shipped("h200x4"), "devices": 4, "home": "h"}
    for cap in ("16G", "4G", "2G"):
        yield ("gemm", shape, dict(own, memory="130G"), "130G", dict(own, memory=cap), cap)


def budgets():
    """Where devices cannot give each other what they load, one with little memory would hold up all:
    devices with more memory compute more."""
    for shape in ((40000, 40000, 40000), (60000, 30000, 40000)):
        yield beside("gemm", shape, "host:200 gpu*2 pcie:25 rate:50", "partition=even", devices=2,
                     home="h", memory="16G,300M")
    own = {"machine": shipped("h200x4"), "devices": 4, "home": "h"}
    yield ("gemm", (70000, 70000, 70000), dict(own, memory="16G"), "16G",
           dict(own, memory="16G,1M,16G,16G"), "one without")


def lookahead():
    """Herault et al., Figure 3: when C is cut and the network is nearly busy, a lookahead of 2 does
    better than one of 1; with one block of C it makes no difference."""
    for n, block, depth in ((362496, 30720, 8192), (356352, 59392, 1024)):
        own = {"machine": SUMMIT, "grid": "6x6", "block": 1024, "blocks": f"{block}x{block}",
               "depth": depth, "network": 5}
        yield ("pgemm", (n, n, n), dict(own, lookahead=2), "2", dict(own, lookahead=1), "1")


def panels():
    """The model's own depth and lookahead across processes against some that are set."""
    for n in (8000, 40000, 160000):
        own = {"machine": SUMMIT, "grid": "3x3", "block": 256}
        for depth in (256, 512, 1024, 2048, 4096):
            for ahead in (1, 2, 3):
                yield ("pgemm", (n, n, n), own, "chosen", dict(own, depth=depth, lookahead=ahead),
                       f"depth {depth}, lookahead {ahead}")


def transport():
    """Panels that stay in devices' memory, and a last block of C that is small."""
    own = {"machine": NCCL, "grid": "2x2", "block": 256}
    yield ("pgemm", (32768, 32768, 32768), dict(own, network=200, up=50), "NCCL", own, "MPI")
    for down in (55, 43, 31):
        own = {"machine": NCCL, "grid": "4x1", "block": 256, "network": 200, "up": 41, "depth": 1024,
               "down": down}
        yield ("pgemm", (16384, 16384, 16384), own, "cut by the model",
               dict(own, blocks="4096x16384"), "one block")


PARTS = {part.__name__: part for part in (rank_updates, home_device, staged, memory, budgets,
                                          lookahead, panels, transport)}


def predicted(args, wanted):
    """The seconds of lines, each of the driver that it is for."""
    across = [i for i, line in enumerate(wanted) if line.startswith("pgemm")]
    within = [i for i, line in enumerate(wanted) if not line.startswith("pgemm")]
    seconds = {}
    if within:
        rows = measure(args, [wanted[i] for i in within], "--predict", names=[])
        seconds.update(zip(within, (row["predicted_s"] for row in rows)))
    if across:
        driver = start([built("bench/tessera-bench-mpi"), "--json", "--predict",
                        *(wanted[i] for i in across)])
        seconds.update(zip(across, (row["predicted_s"] for row in rows_of(driver))))
    return [seconds[i] for i in range(len(wanted))]


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[5].strip(), draws=False)
    parser.run_option("--only", type=texts(PARTS), metavar="PART,...",
                      help=f"of {', '.join(PARTS)} (all)")
    args = parser.parse(argv, only=list(PARTS))
    parser.refuse(args, ["engine", "machine", "memory", "tile", "check", "repeat", "rate_seconds"],
                  "here, where each case says it")
    pairs = [(part, *pair) for part in args.only for pair in PARTS[part]()]
    lines = [case(op, "d", shape, **words) for _, op, shape, own, _, other, _ in pairs
             for words in (own, other)]
    seconds = predicted(args, lines)
    show = table("part:12", "call:26", "own:16", "s:9.4", "beside:26", "s:9.4", "ratio:7.3")
    rows = []
    for i, (part, op, shape, _, name, _, other) in enumerate(pairs):
        own_s, other_s = seconds[2 * i:2 * i + 2]
        call = f"d{op} {'x'.join(map(str, shape))}"
        rows.append(dict(zip(COLUMNS, (part, call, name, own_s, other, other_s, other_s / own_s))))
        show(part, call, name, own_s, other[:26], other_s, other_s / own_s)
    if args.csv:
        write_csv(args.csv, COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
