# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The rate against the size of tiles, cut in two ways, and which size three models predict: the replay
of the plan; for bands, whose kernels have all of k, Choi, Nikolskiy and Stegailov, "Tuning of a
matrix-matrix multiplication algorithm for several GPUs connected by fast communication links"; and for
square tiles the penalties of Anastasiadis et al., "Uncut-GEMMs". Panels, which plans prefer, are left
out. --figure draws Figure 3 or 4 of Choi et al. anew, on the machine file of their GPUs.

  python3 bench/tiles.py --type d --n 16384 --devices 1,2,4 --csv tiles.csv
  python3 bench/tiles.py --from tiles.csv --plot tiles.svg
  python3 bench/tiles.py --figure 3 --plot figure3.svg
"""
import json
import sys

from ablation import check_predict, grid_of, plan_or_measure
from tessera_bench import draw
from tessera_bench.options import ROOT, Fail, Parser, homes, numbers, pick, run_main, texts
from tessera_bench.results import read_csv, tera, write_csv
from tessera_bench.run import beside, call, case, passed

COLUMNS = ("op,type,n,home,devices,cut,tile,floor_s,predicted_s,measured_s,tflops,choi_s,penalty,"
           "picked_by").split(",")
TILES = [256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192]
MOST_IN_A_ROW = 64  # kernels; beyond, planning and submission are all there is
TOLERANCE = 0.03  # of the best measured rate
# Seconds that a command counts for where plans are compared: of nearly equal predictions the planner,
# too, takes the one with fewer commands.
PER_COMMAND = 0.1e-6
MODELS = {"bands": "choi", "tiles": "uncut"}  # by the way of cutting that they are for
# What their figures show: machine, extents, and homes with the numbers of devices. They give the peak
# of a device, TFLOP/s, and the sizes that they measured to be the best, by devices.
FIGURES = {"3": ("v100x4-choi", [8192, 16384, 32768, 65536], 14.899, {2: 1024, 4: 2048}),
           "4": ("gtx1070x4-choi", [8192, 16384, 32768], 5.783, {2: 2048, 4: 4096})}
FIGURE_TILES = [512, 1024, 2048, 4096, 8192]
FIGURE_CURVES = [("0,0,0", 2), ("0,0,0", 4), ("0,1,2", 4)]


def model(args, row):
    """What the model for tiles of that cut says of them, and of its own choice (rule)."""
    name, n = MODELS[row["cut"]], row["n"]
    text = call([beside(args, "bin/tessera"), "plan", "gemm", row["type"], n, n, n, "--home", "0",
                 "--devices", row["devices"], "--model", name, "--json", "--alone",
                 "--tile", row["tile"], *passed(args, ["machine", "engine"])])
    return json.loads(text)[name]


def devices_needed(home, devices):
    """Those that compute or are homes."""
    return max([devices] + [int(place) + 1 for place in home.split(",") if place.isdigit()])


def strategy(cut, devices, tile):
    """Bands as in the paper: two of A and of B at a device, each taken from its home."""
    if cut == "bands":
        return f"bands grid={devices}x1 tile={tile} held=2 route=home relay=no order=given"
    return f"tiles grid={grid_of(devices)} tile={tile} nblock=0,0,0 taper=0"


def is_possible(cut, home, n, devices, tile):
    """Bands are for operands on devices, and give each device a band."""
    if cut == "bands":
        return home.replace(",", "").isdigit() and tile * devices <= n
    return tile <= n <= tile * MOST_IN_A_ROW


def picks(curve):
    """The size that each model predicts for the rows of one way to cut, and the best measured."""
    found = {"replay": min(curve, key=lambda r: r["predicted_s"] + PER_COMMAND * r["commands"])["tile"],
             MODELS[curve[0]["cut"]]: curve[0]["rule"]}
    timed = [r for r in curve if r["measured_s"]]
    if timed:
        found["measured"] = min(timed, key=lambda r: r["measured_s"])["tile"]
    return found


def judge(curve, found):
    """Tells what each model predicts, and how far that stays below the best measured."""
    by_tile = {r["tile"]: r for r in curve}
    best = by_tile.get(found.get("measured"))
    for row in curve:
        row["picked_by"] = " ".join(name for name, tile in found.items() if tile == row["tile"])
    first = curve[0]
    print(f"{first['type']}gemm, N {first['n']}, home {first['home']}, "
          f"{draw.plural(first['devices'], 'device')}, {first['cut']}")
    for row in curve:
        cells = f"  {row['tile']:6} replay {1e3 * row['predicted_s']:10.3f} ms"
        if row["cut"] == "bands":
            cells += f"   choi {1e3 * row['choi_s']:10.3f} ms" if row["choi_s"] else 21 * " "
        else:
            cells += f"   uncut {row['penalty']:8.4f}"
        if row["measured_s"]:
            cells += f"   measured {1e3 * row['measured_s']:10.3f} ms {row['tflops']:8.3f} TFLOP/s"
        print(cells + (f"  <- {', '.join(row['picked_by'].split())}" if row["picked_by"] else ""))
    for name, tile in found.items():
        if name == "measured":
            continue
        verdict = f"  {name} predicts {tile}"
        chosen = by_tile.get(tile)
        if best and chosen:
            below = 1 - best["measured_s"] / chosen["measured_s"]
            verdict += (f"; best measured {best['tile']}; the predicted one is {100 * below:.1f} % below it"
                        + (" (MORE THAN 3 %)" if below > TOLERANCE else ""))
        elif best:
            verdict += f"; best measured {best['tile']}; the predicted one was not tried"
        print(verdict, flush=True)


def chart(path, rows, peak=None):
    """A panel for each way to cut, home and number of devices, with a curve for each N."""
    def panel(of):
        def draw_panel(axis):
            mine = [r for r in rows if (r["cut"], r["home"], r["devices"]) == of]
            for colour, n in enumerate(draw.distinct(r["n"] for r in mine)):
                curve = [dict(r, m=n, k=n) for r in mine if r["n"] == n]
                timed = [r for r in curve if r["measured_s"]]
                if timed:
                    axis.plot([r["tile"] for r in timed], [r["tflops"] for r in timed], "o-",
                              color=f"C{colour}", label=f"N = {n}")
                axis.plot([r["tile"] for r in curve], [tera(r, r["predicted_s"]) for r in curve],
                          ":" if timed else "o:", color=f"C{colour}",
                          label=None if timed else f"N = {n}, predicted")
                for r in curve:
                    at = tera(r, r["measured_s"] or r["predicted_s"])
                    for name, mark in (("replay", "o"), ("choi", "s"), ("uncut", "D")):
                        if name in r["picked_by"].split():
                            axis.plot(r["tile"], at, mark, color=f"C{colour}", markersize=12,
                                      fillstyle="none")
            if peak:
                axis.axhline(peak * of[2], linestyle="--", color="#444")
            marks = "squares: as Choi et al. choose" if of[0] == "bands" else "diamonds: least penalty"
            draw.name_axes(axis, f"{mine[0]['type']}gemm, home {of[1]}, "
                           f"{draw.plural(of[2], 'device')}, {of[0]}; rings: by replay, {marks}",
                           "tile", "TFLOP/s")
            draw.extents_on_x(axis, [r["tile"] for r in mine])
        return draw_panel

    draw.figure(path, [panel(of) for of in draw.distinct((r["cut"], r["home"], r["devices"])
                                                         for r in rows)])


def compare_with_figure(rows, number):
    """Our best size beside theirs."""
    print(f"\nFigure {number} of Choi et al.: the size that they measured to be the best, and what it "
          "loses here")
    for home, devices in FIGURE_CURVES:
        theirs = FIGURES[number][3][devices]
        for n in FIGURES[number][1]:
            curve = {r["tile"]: r["predicted_s"] for r in rows
                     if (r["home"], r["devices"], r["n"]) == (home, devices, n)}
            if theirs in curve:
                best = min(curve, key=curve.get)
                print(f"  home {home}, {devices} devices, N {n:6}: {theirs} there, {best} by replay, "
                      f"{100 * (curve[theirs] / curve[best] - 1):.1f} % apart")


def wanted_of(args):
    """Pairs of a row and its line for the driver. Figures leave out what does not fit: three matrices
    on one device, or one on each."""
    curves = [(home, devices) for home in args.home for devices in args.devices]
    if args.figure:
        curves = FIGURE_CURVES
    return [({"op": "gemm", "type": args.type, "n": n, "m": n, "k": n, "home": home,
              "devices": devices, "cut": cut, "tile": tile},
             case("gemm", args.type, (n,) * 3, home=home, devices=devices_needed(home, devices),
                  strategy=strategy(cut, devices, tile), by=None if args.predict else "plan"))
            for n in args.n for home, devices in curves for cut in args.cut for tile in args.tiles
            if is_possible(cut, home, n, devices, tile)
            and not (args.figure and n == max(args.n) and home == "0,0,0")]


def run(args):
    wanted = wanted_of(args)
    left = sorted({(tile, n) for n in args.n for tile in args.tiles} - {(r["tile"], r["n"]) for r, _ in wanted})
    if left:
        print("left out, since bands need N of a tile for each device, and square tiles N of 1 to "
              f"{MOST_IN_A_ROW} tiles: " + ", ".join(f"{tile} of N {n}" for tile, n in left))
    if not wanted:
        raise Fail("--tiles, --cut, --home: no tile is left; bands need N of a tile for each device and "
                   "operands on devices, square tiles N of 1 to 64 tiles")
    curves = {}
    for (row, _), found in zip(wanted, plan_or_measure(args, wanted, repeat=5)):
        said = model(args, row)
        row.update(rule=said["rule"], floor_s=found["floor_s"], predicted_s=found["predicted_s"],
                   measured_s=found.get("median_s", ""), commands=found["plan"]["commands"],
                   tflops=tera(found, found["median_s"]) if "median_s" in found else "",
                   choi_s=said["task_of_all_s"] if row["cut"] == "bands" else "",
                   penalty=said["total"] if row["cut"] == "tiles" else "")
        curves.setdefault((row["n"], row["home"], row["devices"], row["cut"]), []).append(row)
    for curve in curves.values():
        judge(curve, picks(curve))
    return [row for curve in curves.values() for row in curve]


def set_figure(parser, args):
    """The options of a figure, which are not to be given beside it."""
    parser.refuse(args, ["type", "n", "home", "devices", "tiles", "cut", "machine", "predict"],
                  "with --figure")
    name, args.n, _, _ = FIGURES[args.figure]
    args.machine, args.predict = str(ROOT / f"machines/{name}.json"), True
    args.type, args.tiles, args.cut, args.home = "s", FIGURE_TILES, ["bands"], ["0,0,0"]


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[7].strip())
    parser.run_option("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="(16384)")
    parser.run_option("--home", type=homes, metavar="H;...",
                      help="where A,B,C are (0,0,0 and, of three devices or more, 0,1,2)")
    parser.run_option("--devices", type=numbers(1, 1000), metavar="N,...",
                      help="numbers of devices that compute (1,2,4)")
    parser.run_option("--tiles", type=numbers(), metavar="T,...",
                      help="sizes (256 to 8192, powers of two and half-way)")
    parser.run_option("--cut", type=texts(list(MODELS)), metavar="WAY,...",
                      help="bands: k whole, as Choi et al. have it; tiles: k in tiles (bands,tiles)")
    parser.run_option("--predict", action="store_true", default=None,
                      help="only on the model: --machine, and no device")
    parser.run_option("--figure", **pick(*FIGURES),
                      help="that figure of Choi et al., on their machine's file, only on the model")
    args = parser.parse(argv)
    peak = None
    if args.source:
        rows = read_csv(args.source, COLUMNS)
    else:
        if args.figure:
            set_figure(parser, args)
            peak = FIGURES[args.figure][2]
        for name, value in (("type", "d"), ("n", [16384]), ("devices", [1, 2, 4]), ("tiles", TILES),
                            ("cut", list(MODELS))):
            if getattr(args, name) is None:
                setattr(args, name, value)
        check_predict(parser, args)
        if not args.home:
            args.home = ["0,0,0"] + (["0,1,2"] if max(args.devices) >= 3 else [])
        rows = run(args)
        if args.figure:
            compare_with_figure(rows, args.figure)
        if args.csv:
            write_csv(args.csv, COLUMNS, rows)
    if args.plot:
        chart(args.plot, rows, peak)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
