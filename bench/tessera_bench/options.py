# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Options: what every benchmark has, checked as the command checks its own."""
import argparse
import importlib.util
import math
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def built(name):
    """A program of the build, whose folder BUILD names (build)."""
    return ROOT / os.environ.get("BUILD", "build") / name


class Fail(Exception):
    """What ends a benchmark, with a message for its user."""


# ---- Values: each names what it wants ----


def whole(least, most=2**40):
    def parse(text):
        if not re.fullmatch(r"\d+", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"{text}: must be a whole number from {least} to {most}")
        return int(text)
    return parse


def number(least, most):
    def parse(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: must be a number from {least} to {most}")
        return value
    return parse


def numbers(least=1, most=2**31 - 1):
    """'4096,8192'"""
    one = whole(least, most)
    return lambda text: [one(part) for part in text.split(",")]


def texts(allowed):
    """'d,s': some of the words that are allowed."""
    def parse(text):
        for part in text.split(","):
            if part not in allowed:
                raise argparse.ArgumentTypeError(f"{part}: must be of {', '.join(allowed)}")
        return text.split(",")
    return parse


def shapes(text):
    """'8192x8192x1024,...'"""
    if not re.fullmatch(r"\d+x\d+x\d+(,\d+x\d+x\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text}: must be MxNxK,... such as 8192x8192x1024")
    return [tuple(int(e) for e in shape.split("x")) for shape in text.split(",")]


def homes(text):
    """'h,h,h;0,0,0', or one letter for all three."""
    found = [",".join(3 * [home]) if "," not in home else home for home in text.split(";")]
    for home in found:
        if not re.fullmatch(r"([hu]|\d+)(,([hu]|\d+)){2}", home):
            raise argparse.ArgumentTypeError(
                f"{home}: must be three places such as h,h,0: h (pinned host), u (pageable host) "
                "or a device's number")
    return found


def shard(text):
    """'1/4': part 1 of 4."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text}: must be I/OF such as 1/4")
    return int(match[1]), int(match[2])


def pick(*words):
    return {"choices": words, "metavar": "|".join(words)}


# ---- Options ----

# What the driver has under the same name.
PASSED = ["engine", "machine", "memory", "tile", "repeat", "peer", "peer_repeat", "rate_seconds"]


# ---- Files that are written ----


def can_write(option, path, inputs, replace):
    """Fails before any work if the file could not be written, is an input, or would be lost."""
    path = Path(path)
    if path.is_dir():
        raise Fail(f"{option} {path}: this is a directory; name a file")
    if not path.parent.is_dir():
        raise Fail(f"{option} {path}: there is no folder {path.parent}; make it, or name another")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Fail(f"{option} {path}: this cannot be written")
    for other in inputs:
        if path.exists() and os.path.exists(other) and path.samefile(other):
            raise Fail(f"{option} {path}: this is the input {other}, which would be lost")
    if path.is_file() and not replace:
        raise Fail(f"{option} {path}: the file exists; --force replaces it")


def can_draw(path):
    """Fails before any work if no chart can be drawn there."""
    if Path(path).suffix not in (".svg", ".png", ".pdf"):
        raise Fail(f"--plot {path}: the name must end in .svg, .png or .pdf")
    if importlib.util.find_spec("matplotlib") is None:
        raise Fail("--plot: matplotlib is not here; install python3-matplotlib")


class Parser(argparse.ArgumentParser):
    """Options of a benchmark that measures (run), or draws what it or others measured (--from)."""

    def __init__(self, description, example, draws=True, peer=None):
        super().__init__(description=description, epilog="example:\n  " + example,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        self.measuring = []
        self.adds = True  # --csv adds to a file; else only --resume does
        if draws:
            self.add_argument("--from", dest="source", metavar="CSV,...",
                              help="take these results, and measure nothing")
            self.add_argument("--plot", metavar="FILE", help="draw them: .svg, .png or .pdf")
        self.peer = peer
        self.add_argument("--force", action="store_true", help="replace files that exist")
        self.run_option("--csv", metavar="FILE", help="write the results to this file")
        self.run_option("--driver", metavar="PATH", default=None,
                        help="the driver (that of the build; BUILD names its folder)")
        self.run_option("--engine", metavar="cuda|hip|host|cpu",
                        help="emulated devices, GPUs, the CPU (the best that is here)")
        self.run_option("--machine", metavar="FILE|STRING", help="plan for this machine")
        self.run_option("--memory", metavar="BYTES", help="budget of each device: 16G")
        self.run_option("--tile", type=whole(1), metavar="N", help="tiles of N elements")
        self.run_option("--check", action="store_true", default=None,
                        help="verify every plan, poison buffers (slow)")
        self.run_option("--repeat", type=whole(0, 1000), metavar="N", help="warm calls (10)")
        self.run_option("--rate-seconds", type=number(0, 600), metavar="S",
                        help="hold devices at work so long for the floor's rate (2; 0: the "
                        "machine's)")
        if peer:
            self.run_option("--peer", **pick("cublasxt", "blas", "none"),
                            help=f"measure this too ({peer})")
            self.run_option("--peer-repeat", type=whole(1, 1000), metavar="N",
                            help="calls of the peer (3)")

    def run_option(self, *names, **words):
        """An option of measuring, which does nothing with --from."""
        self.measuring.append(self.add_argument(*names, **words))

    def refuse(self, args, names, why):
        """An error for options that are given and would do nothing."""
        for action in self._actions:
            value = getattr(args, action.dest, None)
            if action.dest in names and value is not None:
                self.error(f"{action.option_strings[-1]}: does nothing {why}; leave it out")

    def parse(self, argv=None, **defaults):
        """The options; those of measuring that are not given have their defaults."""
        args = self.parse_args(argv)
        if getattr(args, "source", None):
            self.refuse(args, [a.dest for a in self.measuring if a.dest != "machine"],
                        "with --from")
        if getattr(args, "resume", None) and not args.csv:
            self.error("--resume: needs --csv FILE to know what is there")
        self.check_files(args)
        given = dict(defaults, driver=built("bench/tessera-bench"), peer=self.peer)
        for name, value in given.items():
            if getattr(args, name, None) is None:
                setattr(args, name, value)
        args.given = given
        return args

    def check_files(self, args):
        """A CSV of cases is added to; a whole one is replaced with --force alone, as a chart is."""
        source = getattr(args, "source", None)
        inputs = source.split(",") if source else []
        for name in ("plot", "roofline", "timeline", "csv"):
            path = getattr(args, name, None)
            if not path:
                continue
            if name in ("plot", "roofline"):
                can_draw(path)
            can_write(f"--{name}", path, inputs, args.force or (name == "csv" and hasattr(args, "resume") and (self.adds or bool(args.resume))))


def run_main(main, argv=None):
    """Runs a benchmark; the exit code."""
    try:
        return main(argv) or 0
    except Fail as fail:
        print(f"{Path(sys.argv[0]).name}: {fail}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
