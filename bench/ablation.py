# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What each technique of the planner is worth: from SUMMA, where every device fetches all it needs
from the operands' homes, they are added one after the other, as in Figure 8 of Anastasiadis et al.,
"Uncut-GEMMs". Caching, and overlap of copies with kernels, are inherent in plans.

  python3 bench/ablation.py --n 8192,16384 --devices 4 --csv ablation.csv
  python3 bench/ablation.py --from ablation.csv --plot ablation.svg
"""
import sys

from tessera_bench import draw
from tessera_bench.options import Parser, homes, numbers, run_main, whole
from tessera_bench.results import flops, read_csv, write_csv
from tessera_bench.run import case, devices_here, measure

COLUMNS = ("op,type,n,home,devices,step,strategy,floor_s,predicted_s,predicted_step,predicted_in_all,"
           "measured_s,measured_step,measured_in_all").split(",")


def grid_of(devices):
    """The most square grid, rows the fewer."""
    rows = max(r for r in range(1, devices + 1) if r * r <= devices and devices % r == 0)
    return f"{rows}x{devices // rows}"


def power_below(x, most):
    """The power of two at or below x, from 1 to most."""
    return min(most, 1 << max(int(x).bit_length() - 1, 0))


def steps(n, devices, tile):
    """A step adds words to those of the steps before; later words of a name win. Panels have
    neither tiles nor an order of them."""
    tile = tile or power_below(n // 8 + 1, 2048)
    words = [("SUMMA", f"grid={grid_of(devices)} tile={tile} nblock=0,0,0 taper=0 piece=0 "
              "c=first order=given route=home relay=no channels=ignore"),
             ("+ fastest link", "route=bandwidth"),
             ("+ ETA, broadcasts", "route=eta relay=yes piece=8M"),
             ("+ C last", "c=last"),
             ("+ order by ETA", "order=eta"),
             ("+ channels", "channels=count"),
             ("+ panels", f"kind=panels kpanel={power_below(n // 16 + 1, 512)} nblock=1024,4096,1024 "
              "taper=128")]
    said = []
    for name, more in words:
        said += more.split()
        yield name, " ".join(w for w in said if name != "+ panels"
                             or w.split("=")[0] not in ("tile", "order"))
    yield "+ search", ""  # nothing is forced


def check_predict(parser, args):
    """What does nothing, and what is needed, with --predict."""
    if not args.predict:
        return
    parser.refuse(args, ["engine", "repeat", "rate_seconds"], "with --predict")
    if not args.machine:
        parser.error("--predict: needs --machine, such as machines/h200x4.json")


def plan_or_measure(args, wanted, repeat):
    """Results of cases: pairs of a row and its line. Floors are the machine's."""
    lines = [line for _, line in wanted]
    if args.predict:
        return measure(args, lines, "--predict", names=["machine", "memory"])
    args.repeat = repeat if args.repeat is None else args.repeat
    args.rate_seconds = args.rate_seconds or 0
    return measure(args, lines)


def add_step(rows, row):
    """Fills how many times as fast it is as the step before, and as the first one."""
    for kind in ("predicted", "measured"):
        seconds = row.get(kind + "_s")
        if not seconds:
            continue
        set_of = [r for r in rows if all(r[c] == row[c] for c in COLUMNS[:5])] + [row]
        row[kind + "_step"] = set_of[max(len(set_of) - 2, 0)][kind + "_s"] / seconds
        row[kind + "_in_all"] = set_of[0][kind + "_s"] / seconds
    rows.append(row)


def show(row, first):
    if first:
        print(f"{row['type']}gemm, N {row['n']}, home {row['home']}, "
              f"{draw.plural(row['devices'], 'device')}")
    cells = [f"{kind} {1e3 * row[kind + '_s']:10.3f} ms {row[kind + '_step']:6.2f}x "
             f"{row[kind + '_in_all']:6.2f}x" for kind in ("predicted", "measured")
             if row.get(kind + "_s")]
    print(f"  {row['step']:<20} {'   '.join(cells)}", flush=True)


def chart(path, rows):
    """Bars as measured with a line as predicted, or bars as predicted."""
    names = draw.distinct(r["step"] for r in rows)
    groups = draw.distinct((r["n"], r["devices"]) for r in rows)
    measured = any(r.get("measured_s") for r in rows)

    def rate(row, seconds):
        return flops("gemm", row["type"], *(3 * [row["n"]])) / seconds * 1e-12

    def panel(axis):
        width = 0.84 / len(names)
        for i, name in enumerate(names):
            for g, group in enumerate(groups):
                row = next(r for r in rows if (r["step"], r["n"], r["devices"]) == (name, *group))
                at = g - 0.42 + width * (i + 0.5)
                best = row["measured_s"] if measured else row["predicted_s"]
                axis.bar(at, rate(row, best), 0.9 * width, color=f"C{i}",
                         label=name if g == 0 else None)
                if measured:
                    line = rate(row, row["predicted_s"])
                    axis.plot([at - 0.45 * width, at + 0.45 * width], [line, line], color="#222")
                if name == names[-1]:
                    floor = rate(row, row["floor_s"])
                    axis.plot([g - 0.42, g + 0.42], [floor, floor], "--", color="#444")
        axis.set_xticks(range(len(groups)), [f"{n} on {devices}" for n, devices in groups])
        first = rows[0]
        draw.name_axes(axis, f"{first['type']}gemm, home {first['home']}, "
                       + ("measured (lines: predicted)" if measured else "predicted"), "", "TFLOP/s")

    draw.figure(path, [panel])


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[4].strip())
    parser.run_option("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="(4096,8192,16384)")
    parser.run_option("--home", type=homes, metavar="H", help="where A,B,C are (h,h,h)")
    parser.run_option("--devices", type=numbers(1, 1000), metavar="N,...", help="(all there are)")
    parser.run_option("--tiles", type=whole(1), metavar="T",
                      help="tiles before panels (an eighth of N, at most 2048)")
    parser.run_option("--predict", action="store_true", default=None,
                      help="only on the model: --machine, and no device")
    args = parser.parse(argv, type="d", n=[4096, 8192, 16384], home=["h,h,h"])
    if args.source:
        rows = read_csv(args.source, ["step", "predicted_s"])
    else:
        check_predict(parser, args)
        if args.predict and not args.devices:
            parser.error("--predict: say for how many --devices")
        wanted = [({"op": "gemm", "type": args.type, "n": n, "home": args.home[0],
                    "devices": devices, "step": name, "strategy": strategy},
                   case("gemm", args.type, (n,) * 3, home=args.home[0], devices=devices,
                        strategy=strategy, by=None if args.predict else "plan"))
                  for devices in args.devices or [max(devices_here(args))] for n in args.n
                  for name, strategy in steps(n, devices, args.tiles)]
        rows = []
        results = plan_or_measure(args, wanted, repeat=10)
        for (row, _), found in zip(wanted, results):
            row.update(floor_s=found["floor_s"], predicted_s=found["predicted_s"],
                       measured_s=found.get("median_s", ""))
            add_step(rows, row)
            show(row, row["step"] == "SUMMA")
        if args.csv:
            write_csv(args.csv, COLUMNS, rows)
    if args.plot:
        chart(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
