# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Large routines in pinned host memory with budgets for the devices' memory, against the rate without
a cap and the one that devices sustain in the same run; and what each device loads, beside the plan,
equation (1) of Herault et al. and a lower bound. Three matrices of 70000 in fp64 are 118 GB.

  python3 bench/caps.py --devices 1,2 --caps 0,4G,16G --csv caps.csv
  python3 bench/caps.py --from caps.csv --plot caps.svg
"""
import sys

from tessera_bench import draw
from tessera_bench.options import Parser, numbers, run_main, texts, whole
from tessera_bench.results import read_csv, table, tera, write_csv
from tessera_bench.run import EXTENTS, case, measure

COLUMNS = ("op,type,n,devices,cap,budget,median_s,tflops,of_uncapped,of_peak,predicted_s,plan_s,b,c,d,"
           "l,device,host_bytes,planned_host_bytes,peer_bytes,planned_peer_bytes,equation,"
           "equation_bytes,bound_bytes,check").split(",")
UNITS = {"K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}


def bytes_of(text):
    return round(float(text[:-1]) * UNITS[text[-1].upper()]) if text[-1].upper() in UNITS \
        else round(float(text))


def lines_of(args):
    """Plans are made before they are timed. The first cap of a routine has the calls that warm up;
    of one call of the others the first one counts."""
    for devices in args.devices:
        for op in args.routine:
            for i, cap in enumerate(args.caps):
                warm_ups = args.warm_up if i == 0 else 0
                once = args.repeat == 1 and warm_ups == 0
                yield case(op, args.type, (args.n,) * 3, args.words or "", home="h", by="plan",
                           devices=devices, memory=cap if bytes_of(cap) else None,
                           repeat=0 if once else args.repeat,
                           warm_up=None if once else max(warm_ups - 1, 0)), cap


def row_of(found, cap):
    plan, block = found["plan"], found["plan"].get("c_block") or {}
    return {"op": found["op"], "type": found["type"], "n": found["n"], "m": found["m"],
            "k": found["k"], "devices": found["devices"], "cap": bytes_of(cap),
            "budget": round(found["budget"]), "median_s": found["median_s"],
            "tflops": tera(found, found["median_s"]), "of_uncapped": 0,
            "of_peak": 1e12 * tera(found, found["median_s"]) / found["rate"] / found["devices"]
            if found["rate"] else 0,
            "predicted_s": found["predicted_s"], "plan_s": found["plan_s"],
            **{name: block.get(name, 0) for name in "bcdl"},
            "equation": (plan["equation"] or {"case": "-"})["case"],
            "equation_bytes": (plan["equation"] or {"bytes": 0})["bytes"],
            "loads": list(zip(found["loads"], plan["loads"])), "check": "ok"}


def by_device(rows):
    """A line for each device of each row."""
    for row in rows:
        for d, (moved, planned) in enumerate(row["loads"]):
            yield dict(row, device=d, host_bytes=round(moved["host_to_device"]),
                       planned_host_bytes=round(planned["host"]),
                       peer_bytes=round(moved["device_to_device"]),
                       planned_peer_bytes=round(planned["peers"]), bound_bytes=planned["bound"])


def compare(row, rows):
    """Against the rate without a cap."""
    whole_rate = [r["tflops"] for r in rows if r["cap"] == 0 and (r["op"], r["devices"]) ==
                  (row["op"], row["devices"])]
    row["of_uncapped"] = row["tflops"] / whole_rate[0] if whole_rate else 0


def chart(path, rows):
    unit = 1e9 if min(r["budget"] for r in rows) >= 1e9 else 1e6

    def panel(op):
        def draw_panel(axis):
            mine = [r for r in rows if r["op"] == op]
            for colour, devices in enumerate(draw.distinct(r["devices"] for r in mine)):
                some = sorted((r for r in mine if r["devices"] == devices),
                              key=lambda r: r["budget"])
                at = [r["budget"] / unit for r in some]
                name = draw.plural(devices, "device")
                axis.plot(at, [r["tflops"] for r in some], "o-", color=f"C{colour}",
                          label=f"measured, {name}")
                axis.plot(at, [r["tflops"] * r["median_s"] / r["predicted_s"] for r in some], "--",
                          color=f"C{colour}", label=f"predicted, {name}")
            draw.name_axes(axis, f"{mine[0]['type']}{op}, N = {mine[0]['n']}, pinned host memory",
                           f"budget of a device, {'GB' if unit == 1e9 else 'MB'}", "TFLOP/s")
            draw.extents_on_x(axis, [r["budget"] / unit for r in mine])
            axis.set_ylim(bottom=0)
        return draw_panel

    draw.figure(path, [panel(op) for op in draw.distinct(r["op"] for r in rows)])


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[5].strip())
    parser.run_option("--routine", type=texts(list(EXTENTS)[:-1]), metavar="OP,...", help="(gemm)")
    parser.run_option("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--n", type=whole(1), metavar="N", help="all extents (70000)")
    parser.run_option("--devices", type=numbers(1, 1000), metavar="N,...", help="(1)")
    parser.run_option("--caps", metavar="BYTES,...",
                      help="budgets of each device, 0 for what it has (0,2G,4G,8G,16G,32G,64G,128G)")
    parser.run_option("--warm-up", type=whole(0, 100), metavar="N",
                      help="calls before the first cap's, of each routine and number of devices (1)")
    parser.run_option("--words", metavar="WORDS", help="for every case, such as 'uplo=upper'")
    args = parser.parse(argv, routine=["gemm"], type="d", n=70000, devices=[1], warm_up=1, repeat=1,
                        caps="0,2G,4G,8G,16G,32G,64G,128G")
    if args.source:
        rows = [r for r in read_csv(args.source, COLUMNS) if r["device"] == 0]
    else:
        parser.refuse(args, ["memory"], "beside --caps")
        args.caps = args.caps.split(",")
        try:
            lines = list(lines_of(args))
        except ValueError:
            parser.error("--caps: must be bytes such as 2G,16G, or 0 for no cap")
        show = table("op:6", "type:4", "N:7", "dev:3", "cap:8", "s:9.3", "TFLOP/s:9.3",
                     "/ no cap:8.3", "/ peak:7.3", "predict s:9.3", "plan s:7.3", "bxc,d,l:14",
                     "peers:6.3")
        args.repeat, rows = None, []
        for (_, cap), found in zip(lines, measure(args, [line for line, _ in lines])):
            row = row_of(found, cap)
            rows.append(row)
            compare(row, rows)
            host = sum(moved["host_to_device"] for moved, _ in row["loads"])
            peers = sum(moved["device_to_device"] for moved, _ in row["loads"])
            show(row["op"], row["type"], row["n"], row["devices"], cap, row["median_s"],
                 row["tflops"], row["of_uncapped"] or None, row["of_peak"] or None,
                 row["predicted_s"], row["plan_s"], f"{row['b']}x{row['c']},{row['d']},{row['l']:.2g}"
                 if row["b"] else "fits", peers / max(host + peers, 1))
        for row in rows:
            compare(row, rows)
        lines = list(by_device(rows))
        print("\nloads, GB a call: measured and planned, beside equation (1) and the lower bound")
        show = table("op:6", "dev:3", "cap:12", "device:6", "host:10.4", "planned:10.4", "peers:10.4",
                     "planned:10.4", "in all:10.4", "equation:10.4", "case:4", "at least:10.4")
        for r in lines:
            show(r["op"], r["devices"], r["cap"], r["device"], 1e-9 * r["host_bytes"],
                 1e-9 * r["planned_host_bytes"], 1e-9 * r["peer_bytes"],
                 1e-9 * r["planned_peer_bytes"], 1e-9 * (r["host_bytes"] + r["peer_bytes"]),
                 1e-9 * r["equation_bytes"], r["equation"], 1e-9 * r["bound_bytes"])
        if args.csv:
            write_csv(args.csv, COLUMNS, lines)
    if args.plot:
        chart(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
