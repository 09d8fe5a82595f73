# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What calls cost beside their work: cpu, a call of ours with engine 'cpu' against the CPU's BLAS
called directly; doors, a call through the BLAS door against the same; plan, planning, and how long a
warm asynchronous call keeps its thread.

  python3 bench/calls.py cpu --n 64,256,1024,4096
  python3 bench/calls.py doors --native --settle 10 --repeat 5 --n 64,1024,8192,16384
  python3 bench/calls.py plan --n 8192,32768
"""
import argparse
import statistics
import sys

from tessera_bench.options import Parser, number, numbers, run_main, whole
from tessera_bench.results import table, tera
from tessera_bench.run import case, machine, measure

MACHINES = ["host:200 gpu*4@nvswitch:300 pcie:50 rate:60",
            "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19"]
SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]


def make_parser(what, more=()):
    parser = Parser(what, "see above", draws=False)
    parser.prog += " " + sys.argv[1] if len(sys.argv) > 1 else ""
    for name, words in more:
        parser.run_option(name, **words)
    parser.run_option("--type", choices=list("sdcz"), metavar="T", help="(d)")
    parser.run_option("--n", type=numbers(1, 65536), metavar="N,...", help="extents")
    return parser


def square(args, n, **words):
    return case("gemm", args.type, (n,) * 3, beta=0.5, **words)


def cpu(argv):
    """Ratios are of neighbouring samples; who goes first changes, and drift cancels."""
    parser = make_parser("A call with engine 'cpu' against the CPU's BLAS called directly, in turn: a "
                         "ratio of 1 means that Tessera costs nothing.")
    args = parser.parse(argv, type="d", n=[64, 128, 256, 512, 1024, 2048, 4096], repeat=21)
    parser.refuse(args, ["engine", "machine", "memory", "tile"], "for the CPU alone")
    show = table("type:4", "N:6", "direct us:12.2", "tessera us:12.2", "GFLOP/s:11.2", "ratio:8.4",
                 "10 %:6.3", "90 %:6.3")
    lines = [square(args, n, home="u", engine="cpu", peer="blas", sample=2e-3) for n in args.n]
    for row in measure(args, lines):
        ratios = sorted(a / b for a, b in zip(row["times_s"], row["peer_times_s"]))
        show(row["type"], row["n"], 1e6 * row["peer_s"], 1e6 * row["median_s"],
             1e3 * tera(row, row["median_s"]), statistics.median(ratios), ratios[len(ratios) // 10],
             ratios[-1 - len(ratios) // 10])


def doors(argv):
    """Of neighbouring samples, since what disturbs one mostly disturbs the other, too."""
    parser = make_parser("gemm on malloc'ed matrices: the CPU's BLAS called directly, through our BLAS "
                         "door, and as a call of the library. Settings are those of the environment.",
                         [("--settle", {"type": number(0, 3600), "metavar": "S",
                                        "help": "seconds of calls through the door before each size"}),
                          ("--native", {"action": "store_true", "default": None,
                                        "help": "also a plain call of the library"})])
    args = parser.parse(argv, type="d", n=SIZES, repeat=21, rate_seconds=0)
    parser.refuse(args, ["engine", "machine", "memory", "tile", "check"],
                  "for doors, whose settings are those of the environment")
    show = table("type:4", "N:6", "direct us:14.3", "door us:14.3", "native us:14.3", "added ns:10.0",
                 "gain:8.3", "TFLOP/s:9.3")
    lines = []
    for n in args.n:
        lines.append(square(args, n, home="u", by="door", peer="blas", sample=5e-3, turn=n,
                            settle=args.settle))
        if args.native:
            lines.append(square(args, n, home="u", sample=5e-3, turn=n))
    found = list(measure(args, lines))
    step = 2 if args.native else 1
    for i in range(0, len(found), step):
        row = found[i]
        added = statistics.median(a - b for a, b in zip(row["times_s"], row["peer_times_s"]))
        show(row["type"], row["n"], 1e6 * row["peer_s"], 1e6 * row["median_s"],
             1e6 * found[i + 1]["median_s"] if args.native else None, 1e9 * added,
             row["peer_s"] / row["median_s"], tera(row, row["median_s"]))


def plan(argv):
    """Each plan is made in a context of its own, so that no kept one is found."""
    parser = make_parser("Planning on described machines, which needs no GPU; then how long a warm "
                         "asynchronous call keeps its thread on this machine.",
                         [("--call-n", {"type": whole(1, 65536), "metavar": "N",
                                        "help": "extent of the warm calls (1024)"}),
                          ("--devices", {"metavar": "N", "help": "how many, for the warm calls"})])
    args = parser.parse(argv, type="d", n=[4096, 8192, 16384, 32768], call_n=1024, repeat=101,
                        rate_seconds=0)
    show = table("machine:50", "N:7", "dev:4", "commands:9", "tried:6", "plan ms:10.3",
                 "us/cmd/tried:12.3", "% of call:9.1")
    for there in [args.machine] if args.machine else MACHINES:
        lines = [case("gemm", args.type, (n,) * 3, repeat=min(args.repeat, 9), machine=there)
                 for n in args.n]
        for row in measure(args, lines, "--predict", names=["memory", "tile"]):
            # Candidates have about as many commands as the one that was kept.
            work = row["plan"]["commands"] * row["plan"]["candidates"]
            show(there, row["n"], row["devices"], row["plan"]["commands"],
                 row["plan"]["candidates"], 1e3 * row["plan_s"], 1e6 * row["plan_s"] / max(work, 1),
                 100 * row["plan_s"] / row["predicted_s"])
    args.machine = None  # a call is made on the machine that is here
    line = case("gemm", args.type, (args.call_n,) * 3, home="h", by="async", warm_up=5,
                devices=args.devices)
    row, = measure(args, [line])
    there = args.devices or len(machine(args)["devices"])
    print(f"\nwarm tsr_gemm_async, N = {args.call_n}, {there} devices: returns after "
          f"{1e6 * row['returned_s']:.2f} us, complete and home after {1e6 * row['median_s']:.2f} us")


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cpu", "doors", "plan"])
    args = parser.parse_args(argv[:1])
    {"cpu": cpu, "doors": doors, "plan": plan}[args.what](argv[1:])


if __name__ == "__main__":
    sys.exit(run_main(main, sys.argv[1:]))
