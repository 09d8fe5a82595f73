# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The routines of the level-3 BLAS from host memory, beside GEMM in the same run, each as a fraction of its floor: on
one GPU with the goals that they have there, and products of pageable matrices beside the floor of staging; on
several GPUs also drawn, as Figure 3 of Gautier and Lima, "XKBlas".

  python3 bench/level3.py --csv level3.csv --resume --seconds 170
  python3 bench/level3.py --predict --machine machines/h200x4.json --csv docs/results/predicted/level3.csv --force
  python3 bench/level3.py --from level3.csv
  python3 bench/level3.py --devices 4 --type d --n 4096,8192,16384,32768 --plot level3.svg
"""
import sys

from rates import wanted
from tessera_bench import draw
from tessera_bench.options import Parser, numbers, run_main, texts, whole
from tessera_bench.results import COLUMNS, key, read_csv, table, tera, write_csv
from tessera_bench.run import DataSet, measure

ROUTINES = ["gemm", "syrk", "syr2k", "symm", "trmm", "trsm"]
SIZES = [4096, 8192, 16384]
PAGEABLE = [1024, 4096]

# Fractions of the floor that are wanted, by extent: of most routines, of trsm, and of pageable operands. Where
# GEMM in the same run has less, that is enough.
GOALS = {4096: 0.8, 8192: 0.88, 16384: 0.92}
GOALS_TRSM = {4096: 0.65, 8192: 0.75, 16384: 0.88}
GOALS_PAGEABLE = {1024: 0.75, 4096: 0.9}


def cases(args):
    """GEMM comes first at each extent, so that a run that is cut off can be read."""
    some = [wanted(op, kind, (n, n, n), "h,h,h", args.devices)
            for n in args.n or SIZES for kind in args.type or ["d", "s"] for op in args.op or ROUTINES]
    if not args.n and not args.op and args.devices == 1:
        some += [wanted("gemm", kind, (n, n, n), "u,u,u", 1) for kind in args.type or ["d", "s"] for n in PAGEABLE]
    return some


def goal_of(row):
    if row["devices"] != 1:
        return None
    if row["home"] == "u,u,u":
        return GOALS_PAGEABLE.get(row["n"])
    return (GOALS_TRSM if row["op"] == "trsm" else GOALS).get(row["n"]) if row["op"] != "gemm" else None


def show_all(rows):
    """Each case beside GEMM in the same run and its goal; how many goals are reached."""
    gemm = {(r["type"], r["n"], r["home"]): r["floor_s"] / r["seconds"] for r in rows if r["op"] == "gemm"}
    show = table("op:5", "type:4", "N:6", "home:6", "ms:9.3", "TFLOP/s:8.2", "floor ms:9.3", "of it:6.3", "gemm's:6.3",
                 "goal:5.2", "reached:7", "p/m:5.2")
    reached = []
    for row in rows:
        fraction, goal = row["floor_s"] / row["seconds"], goal_of(row)
        peer = gemm.get((row["type"], row["n"], row["home"]))
        if row["home"] != "u,u,u" and goal and row["op"] != "trsm" and peer:
            goal = min(goal, peer)
        reached += [fraction >= goal] if goal else []
        show(row["op"], row["type"], row["n"], row["home"], 1e3 * row["seconds"], tera(row, row["seconds"]),
             1e3 * row["floor_s"], fraction, peer, goal, None if not goal else "yes" if fraction >= goal else "no",
             row["predicted_s"] / row["median_s"] if row.get("median_s") else None)
    if reached:
        print(f"\n{sum(reached)} of {len(reached)} goals are reached")


def chart(path, rows):
    """TFLOP/s against N, a panel for each routine."""
    some = [row for row in rows if row["home"] != "u,u,u"]
    draw.rates(path, [dict(row, median_s=row["seconds"], peer=row.get("peer", "")) for row in some])


def timed(rows):
    """Rows with the time that counts: measured if they were."""
    return [dict(row, seconds=row.get("median_s") or row["predicted_s"]) for row in rows]


def predict(args, some):
    found = measure(args, [line for _, line in some], "--predict", names=["machine", "memory"])
    return [dict(row, predicted_s=result["predicted_s"], floor_s=result["floor_s"],
                 fraction=result["floor_s"] / result["predicted_s"], tflops=tera(row, result["predicted_s"]))
            for (row, _), result in zip(some, found)]


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[5].strip(), peer="none")
    parser.run_option("--op", type=texts(ROUTINES), metavar="OP,...", help=f"({','.join(ROUTINES)})")
    parser.run_option("--type", type=texts(list("sdcz")), metavar="T,...", help="(d,s)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="all extents (4096,8192,16384)")
    parser.run_option("--devices", type=whole(1, 1000), metavar="N", help="(1)")
    parser.run_option("--predict", action="store_true", default=None, help="replay the plans on --machine; nothing runs")
    DataSet.options(parser)
    args = parser.parse(argv, repeat=5, devices=1)
    if args.source:
        rows = read_csv(args.source)
    elif args.predict:
        if not args.machine:
            parser.error("--predict: needs --machine, such as machines/h200x4.json")
        rows = predict(args, cases(args))
        if args.csv:
            write_csv(args.csv, COLUMNS, rows)
    else:
        some = list({key(row): (row, line) for row, line in cases(args)}.values())
        rows = DataSet(args, lambda row: None).run(some)
    show_all(timed(rows))
    if args.plot:
        chart(args.plot, timed(rows))


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
