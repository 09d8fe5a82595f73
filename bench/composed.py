# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A solve and a product of its result, X = A^-1 B in place of B and then C = C - D X, n x n in pinned
host memory: composed (asynchronous calls, X and C brought home at the end, everything forgotten) and
separate (two blocking calls), in turn. Bytes are those of one warm run.

  python3 bench/composed.py --n 8192,16384 --devices 1,2,4 --csv composed.csv
  python3 bench/composed.py --from composed.csv --plot composed.svg
"""
import sys

from tessera_bench import draw
from tessera_bench.options import Parser, numbers, run_main
from tessera_bench.results import flops, read_csv, size_of, table, write_csv
from tessera_bench.run import measure

COLUMNS = ("type,n,devices,calls,cold_s,median_s,tflops,host_to_device,device_to_host,"
           "device_to_device,within_devices,floor_in,floor_out,plans").split(",")
CALLS = {"composed": "async", "separate": "call"}


def row_of(found, calls):
    """floor_in: A's triangle, B, C and D once; floor_out: X and C once."""
    n, size = found["n"], size_of(found["type"])
    work = flops("trsm", found["type"], n, n, n) + flops("gemm", found["type"], n, n, n)
    return dict(found["moved"], type=found["type"], n=n, devices=found["devices"], calls=calls,
                cold_s=found["cold_s"], median_s=found["median_s"],
                tflops=work / found["median_s"] * 1e-12,
                floor_in=(n * (n + 1) // 2 + 3 * n * n) * size, floor_out=2 * n * n * size)


def bars(axis, rows, column, scale, floor):
    """A group of bars for each extent: curves would lie on each other where both ways move the same bytes."""
    extents = sorted({r["n"] for r in rows})
    kinds = [(devices, calls) for devices in draw.distinct(r["devices"] for r in rows) for calls in CALLS]
    width = 0.8 / len(kinds)
    for place, (devices, calls) in enumerate(kinds):
        some = [r for r in rows if (r["devices"], r["calls"]) == (devices, calls)]
        at = [extents.index(r["n"]) + (place - (len(kinds) - 1) / 2) * width for r in some]
        drawn = axis.bar(at, [r[column] * scale for r in some], 0.92 * width, color=f"C{place // len(CALLS)}",
                         alpha=1 if calls == "composed" else 0.45,
                         label=f"{calls}, {draw.plural(devices, 'device')}")
        axis.bar_label(drawn, [f"{r[column] * scale:.3g}" for r in some], fontsize=7, padding=1)
    if floor:
        least = sorted({(extents.index(r["n"]), r[floor] * scale) for r in rows})
        axis.hlines([y for _, y in least], [x - 0.45 for x, _ in least], [x + 0.45 for x, _ in least],
                    colors="black", linestyles="dotted", label="each matrix once")
    axis.margins(y=0.15)  # room for the figures above the bars
    axis.set_xticks(range(len(extents)), extents)
    axis.grid(axis="x", visible=False)


def chart(path, rows):
    panels = []
    for title, unit, column, floor in (("trsm, then gemm", "TFLOP/s", "tflops", None),
                                       ("host to devices", "GB", "host_to_device", "floor_in"),
                                       ("devices to host", "GB", "device_to_host", "floor_out"),
                                       ("device to device", "GB", "device_to_device", None)):
        def panel(axis, title=title, unit=unit, column=column, floor=floor):
            bars(axis, rows, column, 1e-9 if unit == "GB" else 1, floor)
            draw.name_axes(axis, title, "N", unit)
        panels.append(panel)
    draw.figure(path, panels, height=2.6)


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[5].strip())
    parser.run_option("--type", choices=list("sdcz"), metavar="T", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="(8192,16384,32768)")
    parser.run_option("--devices", type=numbers(0, 1000), metavar="N,...",
                      help="numbers of devices (0: as many as help)")
    parser.run_option("--timeline", metavar="FILE.json",
                      help="what one more composed run of the last extent did over time, for Perfetto")
    args = parser.parse(argv, type="d", n=[8192, 16384, 32768], devices=[0], repeat=5,
                        rate_seconds=0)
    if args.source:
        rows = read_csv(args.source, COLUMNS)
    else:
        show = table("type:4", "N:7", "dev:3", "calls:8", "cold ms:10.3", "warm ms:10.3",
                     "TFLOP/s:9.3", "GB in:8.4", "GB out:8.4", "GB d-d:8.4", "GB local:8.4",
                     "in/floor:8.3", "out/floor:9.3")
        cases = [(f"composed {args.type} {n} by={CALLS[calls]} turn={n}"
                  + (f" devices={devices}" if devices else ""), calls)
                 for devices in args.devices for n in args.n for calls in ("separate", "composed")]
        rows = []
        more = ["--timeline", args.timeline, "--force"] if args.timeline else []  # checked already
        for (_, calls), found in zip(cases, measure(args, [line for line, _ in cases], *more)):
            row = row_of(found, calls)
            rows.append(row)
            show(row["type"], row["n"], row["devices"], calls, 1e3 * row["cold_s"],
                 1e3 * row["median_s"], row["tflops"],
                 *(1e-9 * row[c] for c in COLUMNS[7:11]), row["host_to_device"] / row["floor_in"],
                 row["device_to_host"] / row["floor_out"])
        if args.csv:
            write_csv(args.csv, COLUMNS, rows)
    if args.plot:
        chart(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
