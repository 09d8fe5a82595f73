# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A data set on a machine that need not be here, by replay of its plans, beside what was measured.

  python3 bench/predicted.py --machine machines/h200x8.json --type d,s --check
  python3 bench/predicted.py --machine machines/h200x4.json --measured docs/results/measured/h200x4-hhh.csv

With --csv each row is written as it comes. A run that was stopped goes on with the same words and --resume.
"""
import os
import sys

import irregular
from rates import PUBLISHED_N, REGULAR_HOMES, REGULAR_N
from tessera_bench import draw
from tessera_bench.options import Parser, homes, numbers, pick, run_main, texts
from tessera_bench.results import append_csv, read_csv, summary, table, tera, write_csv
from tessera_bench.run import case, machine, measure, real_home

COLUMNS = ("op,type,m,n,k,home,devices,set,predicted_s,tflops,floor_s,fraction,measured_s,ratio,"
           "then_s").split(",")
SCALING_N = [8192, 16384, 32768, 65536]
NEAR = 0.1  # of the measured time


def count_of(devices):
    """'4', '0,2', '..8': how many devices."""
    devices = devices.removeprefix("..")
    return len(devices.split(",")) if "," in devices else int(devices)


def make_sets(args):
    """Sets of devices: '1,2,4' are the first ones of each; with a semicolon '1;0,2;..8'."""
    if args.devices:
        return args.devices.split(";" if ";" in args.devices else ",")
    there = len(machine(args)["devices"])
    return [str(count) for count in (1, 2, 4, 8) if count <= there]


def make_points(args, known):
    """(type, shape, home), and for which numbers of devices it is: None, for all."""
    if args.dataset == "irregular":
        some = irregular.points(args.fat, args.thin, args.ratio, args.homes)
    elif args.dataset == "published-irregular":
        some = irregular.published()
    elif args.dataset or args.n or args.homes or not known:
        of = {"regular": REGULAR_N, "published-regular": PUBLISHED_N}
        sizes = args.n or of.get(args.dataset, SCALING_N)
        some = [((n, n, n), home) for home in args.homes or REGULAR_HOMES for n in sizes]
    else:
        return [(r["type"], (r["m"], r["n"], r["k"]), r["home"], r["devices"]) for r in known]
    return [(kind, *point, None) for kind in args.type for point in some]


def list_cases(args, sets, known):
    """Rows without results, each once, and their lines."""
    points, rows = make_points(args, known), {}
    measured = {(r["type"], r["m"], r["n"], r["k"], r["home"], r["devices"]): r for r in known}
    for devices in sets:
        count = count_of(devices)
        for kind, shape, home, only in points:
            home = real_home(home, count)
            name = (kind, *shape, home, count)
            if only not in (None, count) or (devices, name) in rows:
                continue
            then = measured.get(name, {})
            rows[devices, name] = (
                {"op": "gemm", "type": kind, "m": shape[0], "n": shape[1], "k": shape[2],
                 "home": home, "devices": count, "set": devices,
                 "measured_s": then.get("median_s", ""), "then_s": then.get("predicted_s") or ""},
                case("gemm", kind, shape, home=home, devices=devices))
    return list(rows.values())


def shape_of(row):
    cube = row["m"] == row["n"] == row["k"]
    return str(row["m"]) if cube else f"{row['m']}x{row['n']}x{row['k']}"


def point_of(row):
    """What tells a row from others."""
    return tuple(row[c] for c in ("type", "m", "n", "k", "home", "set"))


def there_already(args):
    """The rows of the CSV, by their points; a file from another machine has other rates, and is not told from ours."""
    known = read_csv(args.csv, COLUMNS, missing_ok=True) if args.resume else []
    return {point_of(dict(row, set=str(row["set"]))): row for row in known}


def results_of(args, cases, known):
    """For each case its wanted row, and what was predicted: (row of the CSV, None) or (None, result)."""
    left = [(wanted, line) for wanted, line in cases if point_of(wanted) not in known]
    results = measure(args, [line for _, line in left], "--predict", names=["machine", "memory"]) if left else iter(())
    for wanted, _ in cases:
        before = known.get(point_of(wanted))
        yield (wanted, before, None) if before else (wanted, None, next(results))
    assert next(results, None) is None


def row_of(wanted, before, found):
    """A row that the CSV has keeps its digits."""
    if before:
        row = dict(wanted, **{c: before[c] for c in ("predicted_s", "tflops", "floor_s", "fraction")})
    else:
        seconds = found["predicted_s"]
        row = dict(wanted, predicted_s=seconds, floor_s=found["floor_s"])
        row.update(tflops=tera(row, seconds), fraction=row["floor_s"] / seconds)
    if row["measured_s"]:
        row["ratio"] = before["ratio"] if before else row["predicted_s"] / row["measured_s"]
    return row


def predict(args, cases):
    """The rows with what was predicted. Those that are new are written one by one, and in the end all in their order."""
    show = table("type:4", "m x n x k:18", "home:8", "devices:10", "predict ms:10.3", "TFLOP/s:8.2",
                 "floor ms:10.3", "of it:6.3", "x one:6.2", "floor's:7.2", "measured ms:11.3",
                 "p/m:5.2", "then:5.2", "tried:5", "plan ms:8.3")
    rows, alone, known = [], {}, there_already(args)
    if args.csv and not args.resume:
        write_csv(args.csv, COLUMNS, [])
    for wanted, before, found in results_of(args, cases, known):
        row = row_of(wanted, before, found)
        seconds, point = row["predicted_s"], (row["type"], shape_of(row))
        if args.csv and not before:
            append_csv(args.csv, COLUMNS, rounded(row))
        if row["devices"] == 1:
            alone[point, row["home"]] = row
        one = alone.get((point, real_home(row["home"], 1)))
        show(row["type"], shape_of(row), row["home"], row["set"], 1e3 * seconds, row["tflops"],
             1e3 * row["floor_s"], row["fraction"], one and one["predicted_s"] / seconds,
             one and one["floor_s"] / row["floor_s"],
             1e3 * row["measured_s"] if row["measured_s"] else None, row.get("ratio"),
             row["then_s"] / row["measured_s"] if row["then_s"] and row["measured_s"] else None,
             *((found["plan"]["candidates"], 1e3 * found["plan_s"]) if found else (None, None)))
        rows.append(row)
    if args.csv:
        whole = f"{args.csv}.whole"
        write_csv(whole, COLUMNS, map(rounded, rows))
        os.replace(whole, args.csv)
    return rows


def print_errors(what, ratios):
    if not ratios:
        return
    mean, least, most = summary(ratios)
    print(f"  {what}: geometric mean {mean:.3f}, from {least:.2f} to {most:.2f}; within "
          f"{NEAR:.0%}: {sum(abs(r - 1) <= NEAR for r in ratios)} of {len(ratios)}")


def sum_up(rows):
    print()
    for devices in draw.distinct(r["set"] for r in rows):
        mine = [r for r in rows if r["set"] == devices]
        worst = min(mine, key=lambda r: r["fraction"])
        print(f"{draw.plural(mine[0]['devices'], 'device')} ({devices}): {len(mine)} points; "
              f"fraction of the floor: geometric mean {summary(r['fraction'] for r in mine)[0]:.3f}, "
              f"least {worst['fraction']:.3f} ({shape_of(worst)} at {worst['home']})")
        print_errors("predicted / measured", [r["ratio"] for r in mine if r.get("ratio")])
        print_errors("predicted then, by the measured machine's own figures / measured",
                     [r["then_s"] / r["measured_s"] for r in mine if r["then_s"] and r["measured_s"]])


def rounded(row):
    """The same prediction is the same line."""
    digits = {"tflops": "{:.6g}", "fraction": "{:.4f}", "ratio": "{:.4f}"}
    return {c: digits.get(c, "{:.6g}").format(v) if isinstance(v, float) else v
            for c, v in row.items()}


def chart(path, rows):
    rows = [dict(r, median_s=r["predicted_s"], peer="measured" if r["measured_s"] else "",
                 peer_s=r["measured_s"]) for r in rows]
    square = all(r["m"] == r["n"] == r["k"] for r in rows)
    draw.rates(path, rows, ours="predicted", points=not square, peer_points=True)


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[2].strip())
    parser.run_option("--dataset", **pick("regular", "irregular", "scaling", "published-regular",
                                                 "published-irregular"),
                      help="squares from 4096 to 32768, fat-thin and thin-fat products, squares from "
                      "8192 to 65536, or the 19 squares and the 305 points of Anastasiadis et al. "
                      "(those of --measured, else scaling)")
    parser.run_option("--type", type=texts(list("sdczhbt")), metavar="T,...", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="other extents of squares")
    parser.run_option("--homes", type=homes, metavar="H;...", help="where A,B,C are, each in turn")
    for name in ("--fat", "--thin", "--ratio"):
        parser.run_option(name, type=numbers(), metavar="N,...", help="irregular: as irregular.py")
    parser.run_option("--devices", metavar="N,...|SET;...",
                      help="numbers of devices, or sets of them: '1;0,2;0,2,4,6;8'; with two dots as "
                      "many of them as help: ..4,..8 (those of 1,2,4,8 that the machine has)")
    parser.run_option("--measured", metavar="CSV,...", help="what was measured, to compare with")
    parser.adds = False
    parser.run_option("--resume", action="store_true", default=None,
                      help="leave out what the CSV has, which must be of the same words")
    args = parser.parse(argv)
    if args.source:
        rows = read_csv(args.source, COLUMNS)
    else:
        parser.refuse(args, ["engine", "repeat", "rate_seconds", "tile"], "in a prediction")
        if not args.machine:
            parser.error("--machine: is needed, such as machines/h200x8.json")
        if (args.dataset or "").startswith("published"):
            parser.refuse(args, ["n", "fat", "thin", "ratio", "homes"], "with a set as published")
        if args.dataset == "irregular" and args.n:
            parser.error("--n: the irregular set has --fat, --thin and --ratio")
        if args.dataset != "irregular":
            parser.refuse(args, ["fat", "thin", "ratio"], "without --dataset irregular")
        args.type = args.type or ["d"]
        try:
            sets = make_sets(args)
            list(map(count_of, sets))
        except ValueError:
            parser.error(f"--devices: {args.devices}: must be numbers such as 1,2,4, or sets such as "
                         "0;0,2;8")
        known = read_csv(args.measured) if args.measured else []
        cases = list_cases(args, sets, [r for r in known if r["op"] == "gemm"])
        if not cases:
            parser.error("--devices: nothing was measured on so many devices; name others")
        rows = predict(args, cases)
    sum_up(rows)
    if args.plot:
        chart(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
