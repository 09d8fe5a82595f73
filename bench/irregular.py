# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Products far from square with operands in mixed places: the irregular data set of Anastasiadis et
al., "Uncut-GEMMs", section IV-E; and what it comes to.

  python3 bench/irregular.py --devices 4 --sample 40 --csv irregular.csv --resume --seconds 540
  python3 bench/irregular.py --from irregular.csv --plot irregular.svg
"""
import sys

from rates import PUBLISHED_N, show_rates, wanted
from tessera_bench import draw
from tessera_bench.options import Parser, homes, numbers, run_main, whole
from tessera_bench.results import read_csv, summary, tera
from tessera_bench.run import DataSet, devices_here

FAT = list(range(16384, 40961, 4096))
THIN = list(range(5120, 11265, 1024))
RATIO = [4, 8, 16]
HOMES = ["h,h,h", "0,0,0", "3,2,h", "h,h,0", "3,2,1"]
# As published, where the squares of the regular set belong to it: places for eight devices.
PUBLISHED_HOMES = ["h,h,h", "0,0,0", "4,2,h", "h,h,0", "4,2,7"]
NOISE = 0.03  # by which a measurement may be off


def points(fat=None, thin=None, ratio=None, places=None):
    """M = N with a K that is so many times smaller (fat) or larger (thin), at each home."""
    ratio, places = ratio or RATIO, places or HOMES
    shapes = [[(n, n, n // r) for n in fat or FAT for r in ratio],
              [(n, n, n * r) for n in thin or THIN for r in ratio]]
    return [(shape, home) for family in shapes for home in places for shape in family]


def published():
    """The 305 points of the paper."""
    return ([((n, n, n), home) for home in PUBLISHED_HOMES for n in PUBLISHED_N]
            + points(places=PUBLISHED_HOMES))


def lot(seed, index):
    """Uniform in [0, 1): SplitMix64 by counter, as tools/common/random.c, so that a seed names the
    same sample for ever."""
    mask = 2**64 - 1
    z = (seed * 0xd1342543de82ef95 + (index + 1) * 0x9e3779b97f4a7c15) & mask
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
    z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
    return ((z ^ z >> 31) >> 11) * 2.0**-53


def draw_lots(some, size, seed):
    """A sample, in the order of all."""
    lots = sorted(range(len(some)), key=lambda i: (lot(seed, i), i))
    return [some[i] for i in sorted(lots[:size])]


def name(row):
    return f"{row['m']}x{row['n']}x{row['k']} at {row['home']}"


def sum_up(rows, devices, count):
    """What the points of so many devices come to; rows: by devices, each a dict by point."""
    mine = rows[devices]
    print(f"\n{draw.plural(devices, 'device')}: {len(mine)} of {count} points measured")
    if not mine:
        return
    part = {p: r["floor_s"] / r["median_s"] for p, r in mine.items()}
    worst = min(part, key=part.get)
    print(f"  fraction of the floor: geometric mean {summary(part.values())[0]:.3f}, least "
          f"{part[worst]:.3f} ({name(mine[worst])})")
    above = sum(p > 1 + NOISE for p in part.values())
    if above:
        print(f"  above 1.03 of the floor: {above}; the machine's rates are too low there")
    peers = [r for r in mine.values() if r.get("peer_s")]
    if peers:
        slower = sum(r["median_s"] > r["peer_s"] for r in peers)
        print(f"  slower than the peer: {slower} of {len(peers)}; geometric mean of the speed-up "
              f"{summary(r['peer_s'] / r['median_s'] for r in peers)[0]:.2f}")
    fewer = {p: min((rows[d][p] for d in rows if d < devices and p in rows[d]),
                    key=lambda r: r["median_s"], default=None) for p in mine}
    slower = [p for p in mine if fewer[p] and
              mine[p]["median_s"] > fewer[p]["median_s"] * (1 + NOISE)]
    if len(rows) > 1:
        print(f"  slower than on fewer devices, by more than 3 %: {len(slower)}")
    for p in slower:
        print(f"    {name(mine[p])}: {1e3 * mine[p]['median_s']:.3f} ms, on fewer devices "
              f"{1e3 * fewer[p]['median_s']:.3f} ms")


def chart(path, rows):
    """Those of the most devices: a panel for each family, a colour for each home."""
    most = max(r["devices"] for r in rows)
    rows = [r for r in rows if r["devices"] == most]
    colours = {home: f"C{i}" for i, home in enumerate(draw.distinct(r["home"] for r in rows))}

    def panel(family, title):
        def draw_panel(axis):
            for column, mark, label in (("floor_s", "_", "limit"), ("peer_s", ".", "cuBLASXt"),
                                        ("median_s", "o", None)):
                for home in colours:
                    some = [r for r in family if r["home"] == home and r.get(column)]
                    axis.scatter([draw.cube(r) for r in some],
                                 [tera(r, r[column]) for r in some], marker=mark,
                                 color=colours[home], label=None if label else f"home {home}")
                if label:
                    axis.scatter([], [], marker=mark, color="grey", label=label)
            draw.name_axes(axis, f"{rows[0]['type']}gemm, {draw.plural(most, 'device')}, {title}",
                           "cube root of M N K", "TFLOP/s")
            axis.set_ylim(bottom=0)
        return draw_panel

    draw.figure(path, [panel([r for r in rows if r["k"] <= r["m"]], "fat-thin: M = N > K"),
                       panel([r for r in rows if r["k"] > r["m"]], "thin-fat: M = N < K")])


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[3].strip(),
                    peer="cublasxt")
    parser.run_option("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--fat", type=numbers(), metavar="N,...", help="M = N with a small K")
    parser.run_option("--thin", type=numbers(), metavar="N,...", help="M = N with a large K")
    parser.run_option("--ratio", type=numbers(), metavar="R,...", help="how many times (4,8,16)")
    parser.run_option("--homes", type=homes, metavar="H;...",
                      help="where A,B,C are (h,h,h;0,0,0;3,2,h;h,h,0;3,2,1), modulo the devices")
    parser.run_option("--devices", type=numbers(0, 1000), metavar="N,...",
                      help="numbers of devices (those of 1,2,4 that are here)")
    parser.run_option("--published", action="store_true", default=None,
                      help="the 305 points as published: squares too, and homes 4,2,h and 4,2,7")
    parser.run_option("--sample", type=whole(1), metavar="N", help="so many points, drawn by lot")
    parser.run_option("--seed", type=whole(0), metavar="S", help="which sample (1)")
    DataSet.options(parser)
    args = parser.parse(argv, type="d", seed=1)
    if args.published:
        parser.refuse(args, ["fat", "thin", "ratio", "homes"], "with --published")
    if args.source:
        rows = read_csv(args.source)
        by_devices = {d: {(r["m"], r["k"], r["home"]): r for r in rows if r["devices"] == d}
                      for d in sorted({r["devices"] for r in rows})}
        count = max(map(len, by_devices.values()))
    else:
        every = published() if args.published else points(args.fat, args.thin, args.ratio, args.homes)
        some = draw_lots(every, args.sample, args.seed)
        counts, count = args.devices or devices_here(args), len(some)
        cases = {(d, p): wanted("gemm", args.type, *p, d) for d in counts for p in some}
        data = DataSet(args, show_rates())
        rows = data.run(list(cases.values()))
        by_devices = {d: {p: data.find(cases[d, p][0]) for p in some if data.find(cases[d, p][0])}
                      for d in counts}
    for devices in by_devices:
        sum_up(by_devices, devices, count)
    if args.plot and rows:
        chart(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
