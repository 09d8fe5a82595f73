# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Measured points under the machine's roofs, the links' included: operands in host memory under the
host links, operands on devices under the links of the home.

  python3 bench/roofline.py --from regular.csv,irregular.csv --plot roofline.svg
"""
import math
import sys

from rates import REGULAR_HOMES, show_rates, wanted
from tessera_bench import draw
from tessera_bench.options import Fail, Parser, homes, numbers, run_main, shapes
from tessera_bench.results import flops, read_csv, size_of, table, tera
from tessera_bench.run import DataSet, devices_here, machine

SIZES = [1024, 2048, 4096, 8192, 16384]
SHAPES = [(16384, 16384, 1024), (16384, 16384, 4096), (4096, 4096, 65536)]
SQUARE = 0.75  # share of the bytes of a square C = A B + C that go to the devices


# ---- Roofs ----


def mix_rate(there, flows):
    """Bytes/s of flows together, {(from, to): share of the bytes}, at the shares they have: as much
    as links and channels carry. 0 when a link is missing."""
    rate, linked = math.inf, 0
    for link in there["links"]:
        share = flows.get((link["from"], link["to"]), 0)
        if share > 0:
            rate = min(rate, link["bandwidth"] / share)
            linked += share
    for channel in there.get("channels") or []:
        load = sum(flows.get(tuple(use[:2]), 0) * (use[2] if len(use) > 2 else 1)
                   for use in channel["uses"])
        if load > 0:
            rate = min(rate, channel["capacity"] / load)
    return rate if linked > 1 - 1e-9 else 0


def host_rate(there, devices, share):
    """Bytes/s between host memory and all devices alike, in both directions together, when that
    share of them goes to the devices."""
    flows = {}
    for d in range(devices):
        node = there["devices"][d].get("host_node", "host0")
        flows[node, f"gpu{d}"] = share / devices
        flows[f"gpu{d}", node] = (1 - share) / devices
    return mix_rate(there, flows)


def find_roofs(there, kind, devices):
    """Of the first so many devices: flops/s that they sustain, bytes/s of their memories, of the host
    links, and of what device 0 sends to the others alike."""
    if devices > len(there["devices"]):
        raise Fail(f"{devices} devices: the machine has {len(there['devices'])}; name another with "
                   "--machine")
    sustained = (there["rates"].get(kind) or {}).get("sustained", 0)
    if sustained <= 0:
        raise Fail(f"the machine has no rate of type {kind}")
    some = there["devices"][:devices]
    fabric = {("gpu0", f"gpu{d}"): 1 / (devices - 1) for d in range(1, devices)}
    return {"kernels": sum(sustained * d.get("speed", 1) for d in some),
            "memory": sum(d.get("memory_rate", 0) for d in some),
            "host": host_rate(there, devices, SQUARE),
            "fabric": mix_rate(there, fabric) if fabric else 0}


# ---- Points ----


def operand_bytes(row):
    """Of A, B and C; of C in one direction."""
    m, n, k = row["m"], row["n"], row["k"]
    return [count * size_of(row["type"]) for count in (m * k, k * n, m * n)]


def host_bytes(there, row, places):
    """Over the host links, counted as those of a square product: what goes in and out in another
    proportion may take longer or shorter for each byte, and counts as more or fewer."""
    counts = operand_bytes(row)
    into = sum(b for b, p in zip(counts, places) if not p.isdigit())
    out = 0 if places[2].isdigit() else counts[2]
    rate = host_rate(there, row["devices"], into / (into + out))
    return (into + out) * host_rate(there, row["devices"], SQUARE) / rate if rate else 0


def fabric_bytes(row, places):
    """The most bytes that a device must send or receive when all do as much and no element of C is
    shared: the others have a share s of C, and touch at least sqrt(s) of A and of B."""
    others = (row["devices"] - 1) / row["devices"]
    shares = [math.sqrt(others), math.sqrt(others), others]
    return max(sum(b * s for b, s, p in zip(operand_bytes(row), shares, places) if p == str(d))
               for d in range(row["devices"]))


def intensity(there, row, on_devices):
    """Flops for each byte over the links of that panel; None: the point is not of it."""
    places = row["home"].split(",")
    if all(p.isdigit() for p in places) != on_devices:
        return None
    moved = fabric_bytes(row, places) if on_devices else host_bytes(there, row, places)
    return flops(row["op"], row["type"], row["m"], row["n"], row["k"]) / moved if moved else None


# ---- The chart ----


def panel(there, rows, roofs, on_devices):
    link = "fabric" if on_devices else "host"
    points = [(r, x) for r in rows if (x := intensity(there, r, on_devices))]
    if not points:
        return None

    def draw_panel(axis):
        xs = [x for _, x in points]
        slow = [r["kernels"] / r["memory"] / 2 for r in roofs.values() if r["memory"]]
        fast = [2 * r["kernels"] / r[link] for r in roofs.values() if r[link]]
        least, most = min(xs + slow), max(xs + fast)

        def roof(carried, kernels, end, colour, label):
            ridge = kernels / carried
            at = [x for x in (least, ridge, end) if x >= min(least, ridge)]
            axis.plot(at, [min(x * carried, kernels) * 1e-12 for x in at], "--", color=colour,
                      label=label)

        for colour, (devices, r) in enumerate(roofs.items()):
            some = [(x, tera(row, row["median_s"])) for row, x in points if row["devices"] == devices]
            if some:
                axis.scatter(*zip(*some), color=f"C{colour}", s=12, zorder=3,
                             label=f"{draw.plural(devices, 'device')}, measured")
            if r[link]:
                roof(r[link], r["kernels"], most, f"C{colour}",
                     f"{devices}: {r[link] * 1e-9:.0f} GB/s, {r['kernels'] * 1e-12:.4g} TFLOP/s")
        last = list(roofs.values())[-1]
        if last["memory"]:
            roof(last["memory"], last["kernels"], last["kernels"] / last["memory"], "grey",
                 f"devices' memory: {last['memory'] * 1e-12:.4g} TB/s")
        axis.set_xscale("log")
        axis.set_yscale("log")
        draw.name_axes(axis, "operands on devices: under the links of the home" if on_devices else
                       "operands in host memory: under the host links",
                       "flops for each byte that the home must send, or receive" if on_devices else
                       "flops for each byte over the host links (in and out as of a square)",
                       "TFLOP/s")

    return draw_panel


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[3].strip(),
                    peer="none")
    parser.add_argument("--type", choices=list("sdczhbt"), metavar="T", help="(d)")
    parser.run_option("--n", type=numbers(), metavar="N,...", help="(1024 to 16384 by doubling)")
    parser.run_option("--shape", type=shapes, metavar="MxNxK,...", help="and others")
    parser.run_option("--homes", type=homes, metavar="H;...", help="where A,B,C are (h,h,h;0,0,0)")
    parser.run_option("--devices", type=numbers(1, 1000), metavar="N,...", help="(those of 1,2,4)")
    DataSet.options(parser)
    args = parser.parse(argv, type="d", n=SIZES, shape=SHAPES, homes=REGULAR_HOMES)
    if not args.plot:
        parser.error("--plot FILE: is needed, the chart")
    there = machine(args)
    if args.source:
        found = read_csv(args.source)
        rows = [r for r in found if r["type"] == args.type and r["devices"] >= 1
                and r["op"] == "gemm"]
        if len(rows) < len(found):
            print(f"note: {len(found) - len(rows)} results of other types, or of no device, are left "
                  "out", file=sys.stderr)
    else:
        rows = DataSet(args, show_rates()).run(
            [wanted("gemm", args.type, shape, home, devices)
             for devices in args.devices or devices_here(args) for home in args.homes
             for shape in [(n, n, n) for n in args.n] + args.shape])
    roofs = {d: find_roofs(there, args.type, d) for d in sorted({r["devices"] for r in rows})}
    panels = [p for p in (panel(there, rows, roofs, False), panel(there, rows, roofs, True)) if p]
    if not panels:
        raise Fail("no result of that type crosses a link: nothing to draw")
    show = table("devices:7", "kernels TF/s:12.4", "memory TB/s:11.4", "host links GB/s:15.1",
                 "of a device GB/s:16.1")
    for devices, r in roofs.items():
        show(devices, r["kernels"] * 1e-12, r["memory"] * 1e-12, r["host"] * 1e-9,
             r["fabric"] * 1e-9)
    draw.figure(args.plot, panels)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
