# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A server with four GPUs, in parts of a few minutes: rates beside the floor, beside what was measured
before, and beside what replay predicted before the run.

  python3 bench/four.py --predict --machine h200x4 --csv docs/results/predicted/four.csv --force
  python3 bench/four.py --csv four.csv --resume --seconds 540
  python3 bench/four.py --from four.csv

Run it again with --resume until no case is left. Every result is checked.
"""
import sys

from irregular import draw_lots, points
from rates import wanted
from tessera_bench.options import ROOT, Parser, run_main, texts
from tessera_bench.results import COLUMNS, key, read_csv, summary, table, tera, write_csv
from tessera_bench.run import DataSet, measure

RESULTS = ROOT / "docs/results"
PREDICTED = RESULTS / "predicted/four.csv"
BEFORE = [RESULTS / f"measured/h200x4-{name}.csv"
          for name in ("regular", "hhh", "000", "type-s", "blas3", "irregular-40")]
NEAR = 0.98  # of the rate before
FORESEEN = 0.05  # by which a prediction may be off

HOST, GPU = "h,h,h", "0,0,0"
PLACES = (HOST, GPU)


def cubes(*extents):
    return [(n, n, n) for n in extents]


def squares():
    return [wanted("gemm", "d", shape, home, devices)
            for devices in (1, 2, 4) for home in PLACES for shape in cubes(4096, 8192, 16384, 32768)]


def single():
    return [wanted("gemm", "s", shape, home, devices)
            for devices in (1, 2, 4) for home in PLACES for shape in cubes(8192)]


def level3():
    return [wanted(op, "d", shape, HOST, 4)
            for op in ("trsm", "syrk", "trmm") for shape in cubes(8192, 16384)]


def irregular():
    """The sample of the results' page."""
    return [wanted("gemm", "d", shape, home, 4) for shape, home in draw_lots(points(), 40, 1)]


def variants():
    return [wanted("gemm", "d", shape, HOST, 4, words)
            for shape in cubes(8192, 10007)
            for words in ("", "transb=T", "transa=T", "transa=T transb=T")]


def deep():
    """A long k and a small C, on one device and on as many as help."""
    return [wanted("gemm", "d", shape, home, devices) for devices in (1, 0) for home in PLACES
            for shape in ((512, 512, 1000000), (2048, 2048, 262144))]


def emulated():
    """Products of 8-bit integers beside native ones, with their energy and the digest of their bits."""
    sizes = [("s", (8192, 16384, 32768)), ("d", (16384, 32768, 49152)), ("z", (16384,))]
    cases = [wanted("gemm", kind, shape, HOST, devices, f"arithmetic={arithmetic}")
             for kind, extents in sizes for shape in cubes(*extents)
             for devices in (4, 2, 1) for arithmetic in ("emulated", "native")]
    return [(row, line + " digest") for row, line in cases]


PARTS = {part.__name__: part for part in (squares, single, level3, irregular, variants, deep, emulated)}


def of_parts(names):
    """{key: (row, line)}; the first part that has a case keeps it."""
    cases = {}
    for name in names:
        for row, line in PARTS[name]():
            cases.setdefault(key(row), (row, line))
    return cases


def predict(args, cases):
    """The rows with what replay says."""
    rows = []
    for (row, _), found in zip(cases.values(), measure(
            args, [line.removesuffix(" digest") for _, line in cases.values()], "--predict", names=["machine", "memory"])):
        seconds = found["predicted_s"]
        rows.append(dict(row, predicted_s=f"{seconds:.6g}", floor_s=f"{found['floor_s']:.6g}",
                         fraction=f"{found['floor_s'] / seconds:.4f}",
                         tflops=f"{tera(row, seconds):.6g}"))
    return rows


def known(paths, column):
    """{key: seconds} of files that are there; a later file's rows count."""
    rows = read_csv(",".join(map(str, paths)), missing_ok=True)
    return {key(row): row[column] for row in rows if row.get(column)}


def show_all(rows):
    """Each case beside what was known of it."""
    before, foreseen = known(BEFORE, "median_s"), known([PREDICTED], "predicted_s")
    show = table("op:5", "type:4", "m x n x k:18", "home:8", "dev:3", "words:19", "before:7.1",
                 "foreseen:8.1", "TFLOP/s:8.1", "floor:6.3", "/before:7.3", "foreseen/:9.3", "J:7")
    ratios, errors = [], []
    for row in rows:
        cube = row["m"] == row["n"] == row["k"]
        shape = str(row["m"]) if cube else f"{row['m']}x{row['n']}x{row['k']}"
        then, said, seconds = before.get(key(row)), foreseen.get(key(row)), row["median_s"]
        ratios += [then / seconds] if then else []
        errors += [said / seconds] if said else []
        show(row["op"], row["type"], shape, row["home"], row["devices"], row.get("words", ""),
             then and tera(row, then), said and tera(row, said), tera(row, seconds),
             row["floor_s"] / seconds, then and then / seconds, said and said / seconds, joules_of(row))
    return ratios, errors


def joules_of(row):
    """As text; "-" where there was no counter."""
    return f"{row['joules']:.0f}" if row.get("joules") else None


def same_bits(rows):
    """Prints whether emulated products have the same bits on all numbers of devices; False: some differ."""
    digests = {}
    for row in rows:
        if row.get("digest") and "arithmetic=emulated" in row["words"]:
            digests.setdefault((row["type"], row["n"]), {})[row["devices"]] = row["digest"]
    wrong = [case for case, found in digests.items() if len(set(found.values())) > 1]
    if digests:
        print(f"emulated products with the same bits on all numbers of devices: "
              f"{len(digests) - len(wrong)} of {len(digests)}"
              + "".join(f"; not {kind}gemm {n}" for kind, n in wrong))
    return not wrong


def sum_up(rows):
    ratios, errors = show_all(rows)
    for what, values, bad in (("rate / rate before", ratios, lambda r: r < NEAR),
                              ("predicted / measured time", errors, lambda r: abs(r - 1) > FORESEEN)):
        if values:
            mean, least, most = summary(values)
            print(f"{what}: geometric mean {mean:.3f}, {least:.3f} to {most:.3f}; "
                  f"{sum(map(bad, values))} of {len(values)} are off by more than "
                  f"{100 * (1 - NEAR if 'rate' in what else FORESEEN):.0f} %")
    return 0 if same_bits(rows) else 1


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[5].strip(), peer="none")
    parser.run_option("--part", type=texts(list(PARTS)), metavar="PART,...",
                      help=f"which of {', '.join(PARTS)} (all)")
    parser.run_option("--predict", action="store_true", default=None,
                      help="replay the plans on --machine; nothing runs")
    DataSet.options(parser)
    args = parser.parse(argv, repeat=5)
    if args.plot:
        parser.error("--plot: nothing is drawn here; leave it out")
    if args.source:
        return sum_up(read_csv(args.source))
    cases = of_parts(args.part or PARTS)
    if args.predict:
        if not args.machine or not args.csv:
            parser.error("--predict: needs --machine, such as h200x4, and --csv FILE")
        return write_csv(args.csv, COLUMNS, predict(args, cases))
    rows = DataSet(args, lambda row: None).run(list(cases.values()))
    return sum_up(rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
