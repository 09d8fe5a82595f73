# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""One product in four configurations, and how far under their roofs they stay: the CPU, one GPU, rows of C
over processes (1D), and SUMMA by hand on a grid of processes (2D, examples/summa.c).

  python3 bench/summa.py --processes 4 --n 2048,4096,8192,16384 --csv summa.csv --plot summa.svg
"""
import argparse
import os
import shlex
import subprocess
import sys

from roofline import host_rate
from tessera_bench import draw
from tessera_bench.options import Fail, Parser, built, number, numbers, run_main, whole
from tessera_bench.results import flops, read_csv, size_of, table, write_csv
from tessera_bench.run import beside, case, machine, rows_of, start

COLUMNS = ("config,engine,processes,rows,cols,devices,type,n,seconds,gflops,right,"
           "peak_gflops,link_gb_s,network_gb_s").split(",")
NAMES = {"cpu": "one CPU", "gpu": "one GPU", "1d": "1D over processes", "2d": "2D SUMMA"}
KIND = "d"  # of examples/summa.c


# ---- The four configurations ----


def row_of(config, found, n, seconds, **more):
    return {"config": config, "processes": 1, "rows": 1, "cols": 1, "devices": found.get("devices", 0),
            "type": KIND, "n": n, "seconds": seconds, "right": 1, **more,
            "gflops": 1e-9 * flops("gemm", KIND, n, n, n) / seconds}


def one_process(args, config, engine):
    """By the CPU's BLAS, or by one device with matrices in pinned host memory."""
    words = {} if engine == "cpu" else {"devices": 1, "home": "h,h,h"}
    lines = [case("gemm", KIND, (n, n, n), **words) for n in args.n]
    driver = start([beside(args, "bench/tessera-bench"), "--json", "--engine", engine, "--rate-seconds", 0,
                    "--repeat", args.repeat, *lines])
    for found in rows_of(driver, all_or_none=True):
        yield row_of(config, found, found["n"], found["median_s"])


def launcher(args):
    return [*shlex.split(args.mpirun), "-n", args.processes]


def by_rows(args):
    """A process has rows of A and of C, and all of B passes through it."""
    lines = [case("pgemm", KIND, (n, n, n), grid=f"{args.processes}x1", block=args.block) for n in args.n]
    devices = ["--devices", args.devices] if args.devices else []
    driver = start([*launcher(args), beside(args, "bench/tessera-bench-mpi"), "--json", "--engine",
                    args.engine, *devices, "--repeat", args.repeat, *lines])
    for found in rows_of(driver, all_or_none=False):
        yield row_of("1d", found, found["n"], found["median_s"], processes=found["processes"],
                     rows=found["rows"], cols=found["cols"])


def by_hand(args):
    """The example's lines: its name, type, processes, rows, cols, devices of each, N, seconds of the
    first and of the second product, and whether the result is right."""
    devices = {"TESSERA_DEVICES": str(args.devices)} if args.devices else {}
    try:
        done = subprocess.run([str(w) for w in [*launcher(args), beside(args, "examples/summa"), *args.n]],
                              env={**os.environ, "TESSERA_ENGINE": args.engine, **devices}, text=True,
                              stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise Fail(f"{args.mpirun}: {error.strerror}; name what starts processes with --mpirun") from None
    for line in done.stdout.splitlines():
        cells = line.split(",")
        if cells[0] == "summa":
            processes, rows, cols, devices, n = map(int, cells[2:7])
            yield row_of("2d", {"devices": devices}, n, float(cells[8]), processes=processes, rows=rows,
                         cols=cols, right=int(cells[12]))
    if done.returncode != 0:
        raise Fail("examples/summa failed: see above")


# ---- Roofs ----


class Roofs:
    """What bounds a product here. Emulated devices run on the CPU, whose rate bounds them all together; no
    rate of theirs is known."""

    def __init__(self, args):
        def there(engine):
            return machine(argparse.Namespace(driver=args.driver, engine=engine, machine=None))
        found = there(args.engine)
        real = args.engine != "host"
        self.cpu = 1e-9 * there("cpu")["cpu"]["flops"][KIND]
        self.devices = args.devices or len(found["devices"])
        self.peak = args.peak or (1e-9 * found["rates"][KIND]["sustained"] if real else 0)
        self.link = args.link or (1e-9 * host_rate(found, 1, 2 / 3) if real else 0)
        self.network = args.network or 1e-9 * (found.get("network") or {}).get("bandwidth", 0)

    def note(self, row):
        """peak and link: of all devices of the row; network: of each process. 0: unknown."""
        on_cpu = row["config"] == "cpu"
        row["devices"] = min(row["devices"] * row["processes"], self.devices)
        row["peak_gflops"] = self.cpu if on_cpu or not self.peak else self.peak * row["devices"]
        row["link_gb_s"] = 0 if on_cpu else self.link * row["devices"]
        row["network_gb_s"] = self.network if row["processes"] > 1 else 0


def intensity(row):
    """Flops for each byte of A, B and C."""
    return flops("gemm", row["type"], *3 * [row["n"]]) / (3 * size_of(row["type"]) * row["n"] ** 2)


def slope(row):
    """How the roof of the links rises: GFLOP/s for each flop a byte. Each column of the grid has all of A on
    its devices, each row all of B, and C is nowhere twice; over the network comes what is not there
    already. 0: no link's rate is known."""
    rows, cols = row["rows"], row["cols"]
    carried, received = (rows + cols + 1) / 3, (rows + cols - 2) / 3 / row["processes"]
    known = [row["link_gb_s"] / carried] if row["link_gb_s"] else []
    known += [row["network_gb_s"] / received] if row["network_gb_s"] and received else []
    return min(known, default=0)


def roof(row):
    """GFLOP/s."""
    rise = slope(row)
    return min(row["peak_gflops"], rise * intensity(row)) if rise else row["peak_gflops"]


# ---- The chart ----


def chart(path, rows):
    configs = [c for c in NAMES if any(r["config"] == c for r in rows)]
    series = {c: sorted((r for r in rows if r["config"] == c), key=lambda r: r["n"]) for c in configs}

    def label(config):
        last = series[config][-1]
        if last["processes"] == 1:
            return NAMES[config]
        return f"{NAMES[config]}, {last['rows']} x {last['cols']}"

    def by_extent(axis):
        for i, config in enumerate(configs):
            axis.plot([r["n"] for r in series[config]], [r["gflops"] for r in series[config]], "o-",
                      color=f"C{i}", label=label(config))
        draw.extents_on_x(axis, [r["n"] for r in rows])
        draw.name_axes(axis, "C = A B in fp64, N x N", "N", "GFLOP/s")
        axis.set_ylim(bottom=0)

    def under_roofs(axis):
        xs = sorted({intensity(r) for r in rows})
        for i, config in enumerate(configs):
            points = series[config]
            axis.scatter([intensity(r) for r in points], [r["gflops"] for r in points], color=f"C{i}",
                         s=16, zorder=3, label=label(config))
            top, rise = points[-1]["peak_gflops"], slope(points[-1])
            at = sorted({xs[0] / 2, 2 * xs[-1], *([top / rise] if rise else [])})
            axis.plot(at, [min(top, rise * x) if rise else top for x in at], "--", color=f"C{i}",
                      linewidth=1)
        axis.set_xscale("log")
        axis.set_yscale("log")
        draw.name_axes(axis, "Under their roofs (dashed: links, then kernels)",
                       "flops for each byte of A, B and C", "GFLOP/s")

    draw.figure(path, [by_extent, under_roofs])


# ---- Options ----


def measure(args):
    roofs, cpu = Roofs(args), list(one_process(args, "cpu", "cpu"))
    roofs.cpu = max(roofs.cpu, *(row["gflops"] for row in cpu))  # other programs may have been in the way
    parts = [cpu, one_process(args, "gpu", args.engine), by_rows(args),
             by_hand(args)]
    for row in (row for part in parts for row in part):
        row["engine"] = "cpu" if row["config"] == "cpu" else args.engine
        if not row["right"]:
            raise Fail(f"{NAMES[row['config']]}, N = {row['n']}: the result is wrong")
        roofs.note(row)
        yield row


def best_engine():
    """As the library chooses: by the files of the drivers."""
    files = {"cuda": "/dev/nvidiactl", "hip": "/dev/kfd"}
    return next((engine for engine, file in files.items() if os.path.exists(file)), "host")


def main(argv):
    parser = Parser(__doc__.split("\n\n", maxsplit=1)[0], __doc__.split("\n")[4].strip())
    add = parser.run_option
    add("--n", type=numbers(2), metavar="N,...", help="extents (512,1024,2048,4096)")
    add("--processes", type=whole(2, 2**10), metavar="P", help="of 1D and of 2D (4)")
    add("--devices", type=whole(1, 32), metavar="N", help="of the node, dealt to the processes (all)")
    add("--block", type=whole(1), metavar="N", help="1D: blocks in which matrices are dealt (256)")
    add("--mpirun", metavar="WORDS", help="what starts processes (mpirun)")
    add("--peak", type=number(1e-3, 1e9), metavar="GFLOP/S", help="of a device (as the machine says)")
    add("--link", type=number(1e-3, 1e6), metavar="GB/S",
        help="between a device and host memory, both ways together (as the machine says)")
    add("--network", type=number(1e-3, 1e6), metavar="GB/S",
        help="what a process receives from others (as the machine says)")
    args = parser.parse(argv, n=[512, 1024, 2048, 4096], processes=4, block=256, mpirun="mpirun",
                        engine=best_engine(), repeat=3)
    parser.refuse(args, ["machine", "memory", "tile", "check", "rate_seconds"], "here")
    if args.engine not in ("cuda", "hip", "host"):
        parser.error("--engine: must be cuda, hip or host: the CPU is one of the configurations")
    show = table("configuration:18", "grid:7", "devices:8", "N:7", "ms:12.3", "GFLOP/s:12.1", "of roof:8.2")
    rows = []
    for row in read_csv(args.source, COLUMNS) if args.source else measure(args):
        rows.append(row)
        show(NAMES[row["config"]], f"{row['rows']}x{row['cols']}", row["devices"], row["n"],
             1e3 * row["seconds"], row["gflops"], row["gflops"] / roof(row))
        if args.csv:  # what was measured before something fails is still worth having
            write_csv(args.csv, COLUMNS, rows)
    if args.plot:
        chart(args.plot, rows)


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
