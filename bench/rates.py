# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Rates of routines over extents, types, placements and numbers of devices, beside the floor and
cuBLASXt: the regular data set of multi-GPU GEMM papers, and any other.

  python3 bench/rates.py --devices 1,2,4 --csv regular.csv --plot regular.svg
  python3 bench/rates.py --op trsm,syrk --n 8192,16384 --homes h,h,h --plot blas3.svg
  python3 bench/rates.py --from regular.csv --homes h,h,h --plot regular-hhh.svg
"""
import sys

from tessera_bench import draw
from tessera_bench.options import Parser, homes, numbers, run_main, shapes, texts
from tessera_bench.results import read_csv, table, tera
from tessera_bench.run import EXTENTS, DataSet, case, devices_here, real_home

REGULAR_N = list(range(4096, 32769, 4096))
# The 19 extents of the regular set as Anastasiadis et al. publish it.
PUBLISHED_N = list(range(5120, 16385, 1024)) + list(range(20480, 32769, 2048))
REGULAR_HOMES = ["h,h,h", "0,0,0"]


def show_rates():
    """Prints rows as they come."""
    show = table("op:6", "type:4", "m x n x k:18", "home:8", "dev:3", "cold ms:9.3", "median ms:10.3",
                 "TFLOP/s:9.3", "floor ms:9.3", "of it:6.3", "p/m:5.2", "peer ms:9.3", "ratio:6.2")

    def note(row):
        cube = row["m"] == row["n"] == row["k"]
        shape = str(row["m"]) if cube else f"{row['m']}x{row['n']}x{row['k']}"
        peer = row.get("peer_s") or None
        show(row["op"], row["type"], shape, row["home"], row["devices"], 1e3 * row["cold_s"],
             1e3 * row["median_s"], tera(row, row["median_s"]), 1e3 * row["floor_s"],
             row["floor_s"] / row["median_s"], row["predicted_s"] / row["median_s"],
             peer and 1e3 * peer, peer and peer / row["median_s"])

    return note


def wanted(op, kind, shape, home, devices, words=""):
    """A case: what tells it from others, and its line."""
    home = real_home(home, devices)
    m, n, k = shape
    row = {"op": op, "type": kind, "m": m, "n": n, "k": k, "home": home, "devices": devices,
           "words": words}
    return row, case(op, kind, shape, words, home=home, devices=devices or None)


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[3].strip(), peer="cublasxt")
    parser.run_option("--op", type=texts(list(EXTENTS)[:-1]), metavar="OP,...", help="(gemm)")
    parser.run_option("--type", type=texts(list("sdczhbt")), metavar="T,...", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="all extents (4096 to 32768)")
    parser.run_option("--shape", type=shapes, metavar="MxNxK,...", help="other shapes")
    parser.add_argument("--homes", type=homes, metavar="H;...",
                        help="where A,B,C are, each in turn (h,h,h;0,0,0); with --from, which to draw")
    parser.run_option("--devices", type=numbers(0, 1000), metavar="N,...",
                      help="numbers of devices (those of 1,2,4 that are here; 0: as many as help)")
    parser.run_option("--published", action="store_true", default=None,
                      help="the 19 extents of the regular set of Anastasiadis et al.")
    parser.run_option("--words", metavar="WORDS", help="for every case, such as 'transa=T beta=0'")
    DataSet.options(parser)
    args = parser.parse(argv)
    if args.source:
        if not args.plot:
            parser.error("--from: needs --plot FILE, where to draw")
        rows = read_csv(args.source)
        if args.homes:
            rows = [r for r in rows if r["home"] in args.homes]
    else:
        if args.published:
            parser.refuse(args, ["n", "shape"], "with --published")
        sizes = [(n, n, n) for n in args.n or ([] if args.shape else PUBLISHED_N if args.published else REGULAR_N)]
        cases = [wanted(op, kind, shape, home, devices, args.words or "")
                 for kind in args.type or ["d"] for devices in args.devices or devices_here(args)
                 for op in args.op or ["gemm"] for home in args.homes or REGULAR_HOMES
                 for shape in sizes + (args.shape or [])]
        rows = DataSet(args, show_rates()).run(cases)
    if args.plot:
        draw.rates(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
