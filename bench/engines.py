# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Two engines on the same devices: the same calls in turn in one process, and the ratio of their rates. The
build for this has the HIP engine over CUDA (tests/hip/nvidia).

  BUILD=build-hip python3 bench/engines.py --n 8192,16384 --type s,d --csv engines.csv
"""
import sys

from tessera_bench.options import Parser, homes, numbers, run_main, texts, whole
from tessera_bench.results import summary, table, tera, write_csv
from tessera_bench.run import case, measure

ENGINES = ["cuda", "hip", "host", "cpu"]
GOAL = 0.98  # of the first engine's rate
COLUMNS = ("op,type,m,n,k,home,devices,engine,cold_s,median_s,tflops,floor_s,against,against_s,"
           "ratio").split(",")


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[4].strip(), draws=False)
    parser.run_option("--engines", type=texts(ENGINES), metavar="E,E",
                      help="the engine to compare with, then the one that is compared (cuda,hip)")
    parser.run_option("--type", type=texts(list("sdczhbt")), metavar="T,...", help="(s,d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="(8192,16384)")
    parser.run_option("--homes", type=homes, metavar="H;...", help="where A,B,C are (h,h,h;0,0,0)")
    parser.run_option("--devices", type=whole(1, 1000), metavar="N", help="(1)")
    args = parser.parse(argv, engines=ENGINES[:2], type=["s", "d"], n=[8192, 16384],
                        homes=["h,h,h", "0,0,0"], devices=1, rate_seconds=0, repeat=20)
    if args.engine:
        parser.error("--engine: there are two here; name them with --engines")
    if len(args.engines) != 2 or args.engines[0] == args.engines[1]:
        parser.error("--engines: must be two different engines such as cuda,hip")
    wanted = [(kind, n, home) for kind in args.type for n in args.n for home in args.homes]
    lines = [case("gemm", kind, (n, n, n), home=home, devices=args.devices, engine=engine, turn=turn + 1,
                  warm_up=2)
             for turn, (kind, n, home) in enumerate(wanted) for engine in args.engines]
    show = table("type:4", "N:6", "home:8", f"{args.engines[0]} TFLOP/s:14.2",
                 f"{args.engines[1]} TFLOP/s:14.2", "ratio:6.3")
    rows, first = [], None
    for i, row in enumerate(measure(args, lines)):
        row = dict(row, engine=args.engines[i % 2], tflops=tera(row, row["median_s"]))
        if i % 2 == 0:
            first = row
            rows.append(dict(row, against="", against_s="", ratio=""))
            continue
        row.update(against=first["engine"], against_s=first["median_s"],
                   ratio=first["median_s"] / row["median_s"])
        rows.append(row)
        show(row["type"], row["n"], row["home"], first["tflops"], row["tflops"], row["ratio"])
    mean, least, _ = summary(r["ratio"] for r in rows if r["against"])
    print(f"\n{args.engines[1]} over {args.engines[0]}: geometric mean {mean:.3f}, least {least:.3f} "
          f"(goal {GOAL})")
    if args.csv:
        write_csv(args.csv, COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
