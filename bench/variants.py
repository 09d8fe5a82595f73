# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Square products with operands as they are and transposed, in turn, against NN at the same extent;
and each kind's first call, in a context that has done others, against its warm ones.

  python3 bench/variants.py --n 8192,8191,10007 --devices 4
"""
import sys

from tessera_bench.options import Parser, homes, numbers, run_main, whole
from tessera_bench.results import COLUMNS, table, tera, write_csv
from tessera_bench.run import case, measure

NEAR = 1.05  # how much longer than NN a variant may take
OPS = ["NN", "NT", "TN", "TT"]


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[3].strip(), draws=False)
    parser.run_option("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="(8192,8191,10007)")
    parser.run_option("--home", type=homes, metavar="H", help="where A,B,C are (h,h,h)")
    parser.run_option("--devices", type=whole(1, 1000), metavar="N", help="(as many as help)")
    args = parser.parse(argv, type="d", n=[8192, 8191, 10007], home=["h,h,h"], rate_seconds=0)
    place = {"home": args.home[0], "devices": args.devices}
    half = (args.n[0] + 1) // 2  # another call, so that the context is up
    lines = [case("gemm", args.type, (half,) * 3, repeat=0, **place)]
    lines += [case("gemm", args.type, (n,) * 3, transa=op[0], transb=op[1], turn=n, warm_up=1, **place)
              for n in args.n for op in OPS]
    show = table("type:4", "op:3", "N:7", "home:8", "dev:3", "cold ms:10.3", "warm ms:10.3",
                 "TFLOP/s:9.3", "time/NN:7.3", "rate/first:10.3", "floor ms:10.3", "of it:6.3",
                 "cold-warm ms:12.3")
    rows = []
    for i, found in enumerate(measure(args, lines)):
        if i == 0:
            continue
        row = dict(found, fraction=found["floor_s"] / found["median_s"], check="ok",
                   tflops=tera(found, found["median_s"]))
        rows.append(row)
        row["against"] = row["median_s"] / rows[(i - 1) // 4 * 4]["median_s"]
        show(row["type"], OPS[(i - 1) % 4], row["n"], row["home"], row["devices"],
             1e3 * row["cold_s"], 1e3 * row["median_s"], row["tflops"], row["against"],
             row["tflops"] / rows[0]["tflops"], 1e3 * row["floor_s"], row["fraction"],
             1e3 * (row["cold_s"] - row["median_s"]))
    print(f"\nagainst NN at the same extent at worst {max(r['against'] for r in rows):.3f} times as "
          f"long, by more than 5 %: {sum(r['against'] > NEAR for r in rows)}; a first call costs at "
          f"most {1e3 * max(r['cold_s'] - r['median_s'] for r in rows):.3f} ms more than a warm one")
    if args.csv:
        write_csv(args.csv, COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
