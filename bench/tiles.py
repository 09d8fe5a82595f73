# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The rate against the size of square tiles, for data on devices, and how far from the best the size
is that a model predicts: Figures 3 and 4 of Choi, Nikolskiy and Stegailov, "Tuning of a matrix-matrix
multiplication algorithm for several GPUs connected by fast communication links". Panels, which plans
prefer, are left out.

  python3 bench/tiles.py --type d --n 16384 --devices 1,2,4 --csv tiles.csv
  python3 bench/tiles.py --from tiles.csv --plot tiles.svg
"""
import re
import sys

from ablation import check_predict, grid_of, plan_or_measure
from tessera_bench import draw
from tessera_bench.options import Fail, Parser, homes, numbers, pick, run_main
from tessera_bench.results import read_csv, tera, write_csv
from tessera_bench.run import beside, call, case, passed

COLUMNS = ("op,type,n,home,devices,tile,floor_s,predicted_s,measured_s,tflops,predicted_best,"
           "measured_best").split(",")
TILES = [256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192]
MOST_IN_A_ROW = 64  # kernels; beyond, planning and submission are all there is
TOLERANCE = 0.03  # of the best measured rate
# Seconds that a command counts for where plans are compared: of nearly equal predictions the planner,
# too, takes the one with fewer commands.
PER_COMMAND = 0.1e-6


def choi_tile(args, n, devices):
    """By the formula of the paper, as tessera plan has it; it does not ask where operands are."""
    text = call([beside(args, "bin/tessera"), "plan", "gemm", args.type, n, n, n, "--home", "0",
                 "--devices", devices, "--model", "choi", *passed(args, ["machine", "engine"])])
    return int(re.match(r"model choi: tiles of (\d+)", text)[1])


def devices_needed(args):
    """Those that compute or are homes."""
    named = [int(place) for home in args.home for place in home.split(",") if place.isdigit()]
    return max(args.devices + [d + 1 for d in named])


def judge(rows, chosen, model):
    """Marks the predicted size and the one that is best measured, and tells how far they are apart."""
    first = rows[0]
    timed = [r for r in rows if r["measured_s"]]
    best = min(timed, key=lambda r: r["measured_s"], default=None)
    for row in rows:
        row.update(predicted_best=int(row["tile"] == chosen), measured_best=int(row is best))
    print(f"{first['type']}gemm, N {first['n']}, home {first['home']}, "
          f"{draw.plural(first['devices'], 'device')}")
    for row in rows:
        measured = (f" {1e3 * row['measured_s']:12.3f} {row['tflops']:9.3f}"
                    if row["measured_s"] else "")
        print(f"  {row['tile']:6} {1e3 * row['predicted_s']:12.3f} ms{measured}"
              + ("  <- predicted" if row["predicted_best"] else "")
              + ("  <- best measured" if row["measured_best"] else ""))
    verdict = f"  {model} predicts {chosen}"
    marked = next((r for r in timed if r["predicted_best"]), None)
    if best and marked:
        below = 1 - best["measured_s"] / marked["measured_s"]
        verdict += (f"; best measured {best['tile']}; the predicted one is {100 * below:.1f} % below it"
                    + (" (MORE THAN 3 %)" if below > TOLERANCE else ""))
    elif best:
        verdict += f"; best measured {best['tile']}; the predicted one was not tried"
    print(verdict, flush=True)


def chart(path, rows):
    def panel(n):
        def draw_panel(axis):
            mine = [r for r in rows if r["n"] == n]
            for colour, curve in enumerate(draw.distinct((r["home"], r["devices"]) for r in mine)):
                some = [r for r in mine if (r["home"], r["devices"]) == curve]
                name = f"{curve[0]}, {draw.plural(curve[1], 'device')}"
                square = [dict(r, m=n, k=n) for r in some]
                timed = [r for r in square if r["measured_s"]]
                if timed:
                    axis.plot([r["tile"] for r in timed], [r["tflops"] for r in timed], "o-",
                              color=f"C{colour}", label=name)
                axis.plot([r["tile"] for r in square], [tera(r, r["predicted_s"]) for r in square],
                          ":", color=f"C{colour}",
                          label="the same, predicted" if timed else name + ", predicted")
                for r in square:
                    if r["predicted_best"]:
                        axis.plot(r["tile"], tera(r, r["measured_s"] or r["predicted_s"]), "o",
                                  color=f"C{colour}", markersize=12, fillstyle="none")
            draw.name_axes(axis, f"{mine[0]['type']}gemm, N = {n}; rings: as the model predicts",
                           "tile", "TFLOP/s")
            draw.extents_on_x(axis, [r["tile"] for r in mine])
        return draw_panel

    draw.figure(path, [panel(n) for n in draw.distinct(r["n"] for r in rows)])


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[5].strip())
    parser.run_option("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="(16384)")
    parser.run_option("--home", type=homes, metavar="H;...",
                      help="where A,B,C are (0,0,0 and, of three devices or more, 0,1,2)")
    parser.run_option("--devices", type=numbers(1, 1000), metavar="N,...",
                      help="numbers of devices that compute (1,2,4)")
    parser.run_option("--tiles", type=numbers(), metavar="T,...",
                      help="sizes (256 to 8192, powers of two and half-way)")
    parser.run_option("--model", **pick("replay", "choi"),
                      help="who predicts the best size: plans in virtual time, or a formula (replay)")
    parser.run_option("--predict", action="store_true", default=None,
                      help="only on the model: --machine, and no device")
    args = parser.parse(argv, type="d", n=[16384], devices=[1, 2, 4], tiles=TILES, model="replay")
    if args.source:
        rows = read_csv(args.source, COLUMNS)
    else:
        check_predict(parser, args)
        if not args.home:
            args.home = ["0,0,0"] + (["0,1,2"] if max(args.devices) >= 3 else [])
        wanted = [({"op": "gemm", "type": args.type, "n": n, "m": n, "k": n, "home": home,
                    "devices": devices, "tile": tile},
                   case("gemm", args.type, (n,) * 3, home=home, devices=devices_needed(args),
                        strategy=f"grid={grid_of(devices)} tile={tile} nblock=0,0,0 taper=0",
                        by=None if args.predict else "plan"))
                  for n in args.n for home in args.home for devices in args.devices
                  for tile in args.tiles if tile <= n <= tile * MOST_IN_A_ROW]
        if not wanted:
            raise Fail("--tiles: none is at most N and at least a 64th of it")
        curves, results = {}, plan_or_measure(args, wanted, repeat=5)
        for (row, _), found in zip(wanted, results):
            row.update(floor_s=found["floor_s"], predicted_s=found["predicted_s"],
                       measured_s=found.get("median_s", ""), commands=found["plan"]["commands"],
                       tflops=tera(found, found["median_s"]) if "median_s" in found else "")
            curves.setdefault((row["n"], row["home"], row["devices"]), []).append(row)
        rows = []
        for (n, _, devices), curve in curves.items():
            chosen = choi_tile(args, n, devices) if args.model == "choi" else \
                min(curve, key=lambda r: r["predicted_s"] + PER_COMMAND * r["commands"])["tile"]
            judge(curve, chosen, args.model)
            rows += curve
        if args.csv:
            write_csv(args.csv, COLUMNS, rows)
    if args.plot:
        chart(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
