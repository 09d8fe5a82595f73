# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Products with one short extent in pinned host memory, on the devices that the model chooses (or on
the CPU, if it says so), against one device and against the CPU's BLAS.

  python3 bench/skinny.py --limit 8G

The CPU's BLAS keeps its threads waiting busily for some time after a call, on every core, where they
would be in the way of what is timed next. So all devices' calls come first; what the model gives to
the CPU is timed again, in turn with the CPU's BLAS, behind them.
"""
import itertools
import sys

from caps import bytes_of
from tessera_bench.options import Parser, numbers, run_main
from tessera_bench.results import size_of, table, write_csv
from tessera_bench.run import case, machine, measure

COLUMNS = "type,m,n,k,devices,cold_s,median_s,predicted_s,one_device_s,cpu_s,ratio,plan_s".split(",")
NOISE = 0.03
# Calls of one side go on for a second at most; those before the first sample let the CPU rest.
SIDE = {"home": "h", "seconds": 1, "settle": 0.1, "warm_up": 0}


def make_shapes(args):
    """The short extent stands for M, N and K in turn."""
    for place in range(3):
        for short in args.short:
            for others in itertools.product(args.long, repeat=2):
                m, n, k = shape = (*others[:place], short, *others[place:])
                if (m * k + k * n + m * n) * size_of(args.type) <= args.limit:
                    yield shape


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[3].strip(), draws=False)
    parser.run_option("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--short", type=numbers(), metavar="N,...", help="M, N or K (1,64,512)")
    parser.run_option("--long", type=numbers(), metavar="N,...", help="the others (4096,65536)")
    parser.run_option("--limit", metavar="BYTES", help="leave out what needs more than this (40G)")
    args = parser.parse(argv, type="d", short=[1, 64, 512], long=[4096, 65536], limit="40G",
                        repeat=11, rate_seconds=0)
    try:
        args.limit = bytes_of(args.limit)
    except ValueError:
        parser.error("--limit: must be bytes such as 8G")
    shapes = list(make_shapes(args))
    if not shapes:
        parser.error("--limit: leaves no product; raise it")
    here = bool(machine(args)["devices"])
    if not here:
        print("note: no device here; the CPU's BLAS is all there is to compare", file=sys.stderr)
    ours, one, cpu = {}, {}, {}
    if here:
        sides = [(ours, None), (one, 1)]
        lines = [case("gemm", args.type, shape, devices=devices, turn=i, **SIDE)
                 for i, shape in enumerate(shapes) for _, devices in sides]
        for i, found in enumerate(measure(args, lines)):
            sides[i % 2][0][shapes[i // 2]] = found
    again = [shape for shape in shapes if not ours.get(shape, {}).get("devices")]
    lines, owners = [], []
    for shape in shapes:
        lines.append(case("gemm", args.type, shape, engine="cpu", turn=len(cpu), **SIDE))
        owners.append((cpu, shape))
        cpu[shape] = None
        if shape in again and here:
            lines.append(case("gemm", args.type, shape, turn=len(cpu) - 1, **SIDE))
            owners.append((ours, shape))
    for (side, shape), found in zip(owners, measure(args, lines)):
        side[shape] = found
    show = table("type:4", "m x n x k:18", "dev:3", "cold ms:10.3", "ours ms:10.3",
                 "predict ms:10.3", "1 dev ms:10.3", "CPU ms:10.3", "ours/best:9.3", "plan ms:8.3")
    rows = []
    for shape in shapes:
        mine, alone = ours.get(shape) or cpu[shape], one.get(shape, {}).get("median_s")
        best = min(cpu[shape]["median_s"], alone or cpu[shape]["median_s"])
        row = {**{c: mine.get(c) for c in COLUMNS}, "one_device_s": alone or "",
               "cpu_s": cpu[shape]["median_s"], "ratio": mine["median_s"] / best}
        rows.append(row)
        show(args.type, "x".join(map(str, shape)), row["devices"], 1e3 * row["cold_s"],
             1e3 * row["median_s"], 1e3 * row["predicted_s"], alone and 1e3 * alone,
             1e3 * row["cpu_s"], row["ratio"], 1e3 * row["plan_s"])
    print(f"\n{len(rows)} products; against the best of one device and the CPU at worst "
          f"{max(r['ratio'] for r in rows):.3f} times as long; slower by more than 3 %: "
          f"{sum(r['ratio'] > 1 + NOISE for r in rows)}; planned in at most "
          f"{1e3 * max(r['plan_s'] for r in rows):.3f} ms")
    if args.csv:
        write_csv(args.csv, COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
