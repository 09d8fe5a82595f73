# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Every option of every command, in every mode: what a mode does not use is refused there, and what it does not
refuse changes what the command prints or writes. Commands, options and modes are those that --help=json tells, so an
option that is new fails here until it says which modes use it."""
import hashlib
import re
import shlex
import struct

import pytest

from support import BUILD, missing, run, some_data, tessera, write_npy

NODE = "gpu*2@nvlink:300"
GEMM = "plan gemm d 900 700 500"
SYMM, TRMM = f"plan symm d 900 700 --machine {NODE}", f"plan trmm d 900 700 --machine {NODE}"
FILES = {"csv": "f.csv", "timeline": "f.json", "svg": "f.svg", "machine-svg": "f.svg", "report-to": "f.txt",
         "output": "c.npy"}  # what is written; it does not exist before


class Tried:
    """A value of an option, with what else it needs: other words for the base, and more of them. quiet: why nothing
    can be seen of it. alone: in the mode that it chooses, options that need another base are not tried. refused: what
    is said where it is refused in any mode."""

    def __init__(self, value="", base=None, more="", quiet="", alone=False, refused=""):
        self.value, self.base, self.more, self.quiet, self.alone = value, base, more, quiet, alone
        self.refused = refused


def tried(what):
    return what if isinstance(what, Tried) else Tried(what)


FLAG = ""
CHECKED = Tried(quiet="it looks for faults, and finds none")
REPLACES = Tried(quiet="there is no file to replace")
TIMES = "it shows in times, which differ anyway"
ALONE = "does nothing on one process"
ALIKE = Tried("3", quiet=TIMES)
PLANNED = {"devices": "1", "machine": "gpu*2@nvlink:25", "memory": "3M", "tile": "100"}
CUTS = {"cut": "paper", "depth": "64", "lookahead": "1", "blocks": "2x2", "network": "0.1"}
# 32 x 32; both triangles are of positive definite matrices, not of the same one.
DOMINANT = [400 if i == j else (32 * i + j) % 7 for i in range(32) for j in range(32)]
SMALL = "--repeat 1 --rate-seconds 0 --peer none"
HOST = f"--engine host --devices 2 --machine {NODE}"

# Words with which each command runs, and values for each of its options.
COMMANDS = {
    "plan": (f"{GEMM} --machine {NODE}", {
        "home": "0,1,1", "side": Tried("right", SYMM), "uplo": Tried("upper", SYMM), "transa": "T", "transb": "T",
        "diag": Tried("unit", TRMM),
        "layout": "row", "lda": Tried("1001", quiet="it counts where copies are aligned"),
        "ldb": Tried("1001", quiet="as lda"), "ldc": Tried("1001", quiet="as lda"), "alpha": "0", "beta": "0",
        "model": Tried("uncut", alone=True),
        "commands": FLAG, "timeline": FILES["timeline"], "machine-svg": FILES["machine-svg"],
        "details": FLAG, "json": FLAG, "alone": FLAG, "force": REPLACES,
        "engine": Tried("host", quiet="nothing runs, and the machine is described"), **PLANNED,
        "arithmetic": "emulated", "reproducible": FLAG, "check": CHECKED}),
    "plan pgemm": (f"plan pgemm d 900 700 500 --grid 2x2 --block 64 --machine {NODE}", {
        "grid": "1x4", "block": "500", "transa": "T", "transb": "T", "beta": "1", **CUTS, "up": "1",
        "down": Tried("0.01", more="--up 1"), "commands": FLAG, "timeline": FILES["timeline"], "details": FLAG,
        "json": FLAG, "force": REPLACES, **PLANNED, "arithmetic": "emulated"}),
    "machine": (f"machine --machine {NODE}", {
        "details": FLAG, "json": FLAG, "list": FLAG, "svg": FILES["svg"], "force": REPLACES,
        "probe": Tried(base="machine --engine cpu", quiet="it measures anew"),
        "engine": Tried("host", quiet="the machine is described"), "devices": "1", "machine": "h200x4"}),
    "run": ("run --engine host -- true", {
        "report": FLAG, "report-to": FILES["report-to"],
        "explain": Tried(quiet="the program has no calls to list"),
        "offload": Tried("always", quiet="the program has no calls"), "min-size": Tried("10", quiet="as offload"),
        "engine": Tried("host", quiet="as offload"), "devices": Tried("1", quiet="as offload"),
        "machine": Tried(NODE, quiet="as offload"), "memory": Tried("1G", quiet="as offload"),
        "tile": Tried("100", quiet="as offload")}),
    "gemm": (f"gemm a.npy b.npy -o c.npy --engine host --machine {NODE}", {
        "output": "d.npy", "alpha": "2", "beta": Tried("3", more="--c c0.npy"), "c": "c0.npy", "transa": "T",
        "transb": "T", "type": "s", "home": Tried("p", quiet=TIMES),
        "repeat": "1", "verify": FLAG, "timeline": FILES["timeline"],
        "progress": FLAG, "resident": Tried("1G", quiet="it limits what is in memory"), "details": FLAG, "json": FLAG,
        "force": REPLACES, "engine": Tried("host", f"gemm a.npy b.npy -o c.npy --machine {NODE}"), "devices": "2",
        "machine": Tried("gpu*1", more="--details"), "memory": Tried("20K", more="--details"),
        "tile": Tried("16", more="--details"), "arithmetic": Tried("emulated", more="--details"),
        "reproducible": FLAG, "check": CHECKED}),
    "pgemm": (f"pgemm a.npy b.npy -o c.npy --engine host --machine {NODE}", {
        "output": "d.npy", "alpha": "2", "beta": Tried("3", more="--c c0.npy"), "c": "c0.npy", "transa": "T",
        "transb": "T", "type": "s", "grid": Tried("1x1", quiet="it says that the process is meant to be alone"),
        "block": Tried("7", refused=ALONE),
        **{f"{x}-ends": Tried("7,32", refused=ALONE) for x in "mnk"}, "repeat": "1", "details": FLAG,
        **{name: Tried(value, refused=ALONE) for name, value in CUTS.items()},
        "timeline": FILES["timeline"], "force": REPLACES,
        "progress": Tried(quiet="without devices there are no steps to tell"),
        "engine": Tried("cpu", quiet=TIMES),
        "devices": Tried("1", more="--details"), "machine": Tried("gpu*1", more="--details"),
        "memory": Tried("20K", more="--details"), "tile": Tried("16", more="--details"), "check": CHECKED}),
    "solve": (f"solve p.npy b.npy -o c.npy --spd --engine host --machine {NODE}", {
        "output": "d.npy", "spd": Tried(quiet="it is given"), "triangular": "lower", "uplo": "upper",
        "trans": Tried("T", more="--triangular lower"), "json": FLAG, "force": REPLACES,
        "engine": Tried("host", f"solve p.npy b.npy -o c.npy --spd --machine {NODE}"), "devices": "1",
        "machine": "gpu*1", "memory": Tried("1M", quiet=TIMES), "check": CHECKED}),
    "bench": (f"bench --n 40 {SMALL} {HOST}", {
        "op": "syrk", "type": "s", "n": "30", "shape": Tried("20x30x40", f"bench {SMALL} {HOST}", quiet=TIMES),
        "home": "0,1,1",
        "devices": "1",
        "side": Tried("right", f"bench --op symm --n 40 {SMALL} {HOST}", quiet=TIMES),
        "uplo": Tried("upper", f"bench --op symm --n 40 {SMALL} {HOST}", quiet=TIMES),
        "transa": Tried("T", quiet=TIMES),
        "transb": Tried("T", quiet=TIMES),
        "diag": Tried("unit", f"bench --op trmm --n 40 {SMALL} {HOST}", quiet=TIMES),
        "repeat": ALIKE, "peer": "blas",
        "peer-repeat": Tried("2", more="--peer blas", quiet=TIMES),
        "rate-seconds": Tried("0.01", quiet="it measures a rate"), "csv": FILES["csv"], "timeline": FILES["timeline"],
        "json": FLAG, "details": FLAG, "force": REPLACES, "engine": Tried("host", f"bench --n 40 {SMALL}"),
        "machine": Tried("gpu*4", quiet=TIMES), "memory": Tried("1M", quiet="as machine"),
        "tile": Tried("16", quiet="as machine"), "arithmetic": Tried("emulated", quiet="as machine"),
        "reproducible": Tried(quiet="as machine"), "check": CHECKED}),
    "knobs": ("knobs", {}),
    "tuning": ("tuning", {"json": FLAG}),
    "doctor": ("doctor", {"json": FLAG}),
}
DRIVERS = {
    "tessera-bench": (f"'gemm d 40 40 40' {SMALL} {HOST}", {
        "cases": "list.txt", "predict": FLAG, "csv": FILES["csv"], "json": FLAG, "timeline": FILES["timeline"],
        "rate-seconds": Tried("0.01", quiet="it measures a rate"), "details": FLAG, "force": REPLACES,
        "home": "0,1,1", "side": Tried("right", f"tessera-bench 'symm d 40 40' {SMALL} {HOST}", quiet=TIMES),
        "uplo": Tried("upper", f"tessera-bench 'symm d 40 40' {SMALL} {HOST}", quiet=TIMES),
        "transa": Tried("T", quiet=TIMES), "transb": Tried("T", quiet=TIMES),
        "diag": Tried("unit", f"tessera-bench 'trmm d 40 40' {SMALL} {HOST}", quiet=TIMES),
        "alpha": Tried("2", quiet=TIMES), "beta": Tried("2", quiet=TIMES),
        "by": Tried("plan", quiet=TIMES), "repeat": ALIKE, "warm-up": ALIKE, "sample": Tried("0.01", quiet=TIMES),
        "seconds": Tried("1", quiet=TIMES), "settle": Tried("0.01", quiet=TIMES), "peer": "blas",
        "peer-repeat": Tried("2", more="--peer blas", quiet=TIMES), "turn": Tried("x", quiet=TIMES),
        "strategy": Tried("tile=16", quiet=TIMES), "engine": Tried("host", f"tessera-bench 'gemm d 40 40 40' {SMALL}"),
        "devices": "1",
        "machine": Tried("gpu*4", quiet=TIMES), "memory": Tried("1M", quiet=TIMES), "tile": Tried("16", quiet=TIMES),
        "arithmetic": Tried("emulated", quiet=TIMES), "reproducible": Tried(quiet=TIMES), "digest": Tried(more="--details"),
        "check": CHECKED}),
    "tessera-bench-mpi": (f"'pgemm d 90 90 90' --grid 1x1 --repeat 1 {HOST}", {
        "predict": Tried(more="--grid 2x2"), "csv": FILES["csv"], "json": FLAG, "timeline": FILES["timeline"],
        "force": REPLACES, "grid": Tried("1x1", quiet="there is one process"),
        "processes": Tried("1", quiet="there is one"),
        "block": Tried("32", quiet=TIMES), "transport": Tried("mpi", quiet="there is one process"),
        "repeat": ALIKE, **{name: Tried(value, quiet=TIMES) for name, value in CUTS.items()},
        "up": Tried("1", more="--predict --grid 2x2", quiet=TIMES),
        "down": Tried("0.001", more="--predict --grid 2x2 --up 1", quiet=TIMES),
        "engine": Tried("host", "tessera-bench-mpi 'pgemm d 90 90 90' --repeat 1"),
        "devices": "1", "machine": Tried("gpu*2", quiet=TIMES),
        "memory": Tried("100M", quiet="as machine")}),
}

# ---- What is told, and what is seen ----


def command_of(name):
    if name in COMMANDS:
        return [BUILD / "bin/tessera", *name.split()], COMMANDS[name]
    base, values = DRIVERS[name]
    return [BUILD / "bench" / name], (f"{name} {base}", values)


def told_of(name):
    program, _ = command_of(name)
    if name not in COMMANDS and not program[0].exists():
        missing(f"{name} in this build")
    told = run([*program, "--help=json"])
    if told.code != 0 and "pgemm" in name:
        missing("MPI in this build")
    return told.json()


def words_of(program, line):
    """The words after the program's own."""
    return shlex.split(line)[max(len(program) - 1, 1):]


def drop(words, names, told):
    """The words without options of these names, and their values."""
    flags = {f"--{o['name']}": o["kind"] == "flag" for o in told["options"]}
    left, skip = [], False
    for word in words:
        if not skip and not (word in flags and word[2:] in names):
            left.append(word)
        skip = not skip and word in flags and word[2:] in names and not flags[word]
    return left


def chosen(item, values):
    """An option, or NAME=VALUE, as words."""
    name, _, value = item.partition("=")
    what = tried(values[name])
    value = value or what.value
    return [*shlex.split(what.more), f"--{name}", *([value] if value else [])]


MEASURED = re.compile(r"\d+(\.\d+)?e[-+]?\d+|\d+\.\d+|\d+(?= ?([num]?s|[kMGT]?B|[kMGT]FLOP/s|%)\b)")


class Place:
    """Runs lines, each in a folder of its own."""

    def __init__(self, folder, program, under):
        self.folder, self.program, self.under, self.count = folder, program, under, 0
        self.known = {}

    def seen(self, words):
        """What a line makes that other options are compared with: it is run once."""
        if tuple(words) not in self.known:
            self.known[tuple(words)] = self.run(words)[1]
        return self.known[tuple(words)]

    def run(self, words):
        self.count += 1
        here = self.folder / str(self.count)
        here.mkdir()
        for name, shape in (("a", (32, 32)), ("b", (32, 32)), ("c0", (32, 32))):
            write_npy(here / f"{name}.npy", "<f8", name == "b", shape, some_data(8 * 32 * 32))
        write_npy(here / "p.npy", "<f8", False, (32, 32), struct.pack("<1024d", *DOMINANT))
        (here / "list.txt").write_text("gemm d 20 20 20\n")
        before = {f.name for f in here.iterdir()}
        done = self.under([*self.program, *words], here)
        files = sorted((f.name, hashlib.sha1(f.read_bytes()).hexdigest() if f.suffix == ".npy" else "")
                       for f in here.iterdir() if f.name not in before)
        return done, (MEASURED.sub("#", re.sub(r"\s+", " ", done.out + done.err)), files)


def applies(mode, items):
    """Whether a mode applies where these options are given, as {name: value}."""
    def given(item):
        name, equals, value = item.partition("=")
        return name in items and (not equals or items[name] == value)
    if any(given(item) for item in mode["unless"]):
        return False
    return any(map(given, mode["one_of"])) if "one_of" in mode else not any(map(given, mode["none_of"]))


def items_of(words):
    """{name: value} of the options among the words."""
    return {w[2:]: n if not n.startswith("--") else "" for w, n in zip(words, [*words[1:], "--"])
            if w.startswith("--")}


def try_mode(place, told, base, values, selection, refusals=False):
    """All options where the words of `selection` choose a mode; those that change nothing. refusals: only those
    that the mode refuses, which takes no time."""
    idle = []
    for option in (o["name"] for o in told["options"] if o["name"] != "help"):
        what = tried(values[option])
        words = words_of(place.program, what.base) if what.base else base
        end = words.index("--") if "--" in words else len(words)
        chosen_words = [*selection, *shlex.split(what.more)]
        words, end = [*words[:end], *chosen_words, *words[end:]], end + len(chosen_words)
        if option in items_of(selection) or (what.base and any(tried(values[i]).alone for i in items_of(selection))):
            continue
        if "paper" in selection and option in ("beta", "lookahead"):
            continue  # here everything fits in one panel, whatever they are
        with_it = [f"--{option}", *([what.value] if what.value else [])]
        # What the mode leaves without use goes from the base, but not the option that is tried.
        for mode in told["modes"]:
            if applies(mode, {**items_of(words), **items_of(with_it)}):
                bare = drop(words[:end], {u for u in mode["unused"] if "=" not in u}, told)
                words, end = [*bare, *words[end:]], len(bare)
        line = [*drop(words[:end], {option}, told), *with_it, *words[end:]]
        if what.refused:
            place.run(line)[0].refused(rf"--{option}\b.*: {what.refused}")
            continue
        unused = [m for m in told["modes"] if applies(m, items_of(line)) and
                  {option, f"{option}={what.value}"} & set(m["unused"])]
        if not unused and refusals:
            continue
        done, seen = place.run(line)
        if unused:
            done.refused(rf"--{option}\b.*: does nothing {re.escape(unused[0]['name'])}")
            continue
        done.ok()
        if not what.quiet:
            without = place.seen(words)
            if seen == without:
                idle.append(f"--{option} in {shlex.join(line)}")
    return idle


@pytest.mark.slow
@pytest.mark.turns(3)
@pytest.mark.parametrize("name", [*COMMANDS, *DRIVERS])
def test_options_have_a_use_or_are_refused(name, tmp_path):
    told = told_of(name)
    program, (line, values) = command_of(name)
    options = {o["name"] for o in told["options"]} - {"help"}
    assert options == set(values), f"{name}: say here how each option is tried"
    place = Place(tmp_path, program, lambda words, here: run(words, cwd=here))
    base = words_of(program, line)
    idle = try_mode(place, told, base, values, [])
    for mode in told["modes"]:
        for item in mode.get("one_of", []):
            if tried(values[item.partition("=")[0]]).refused:
                continue
            measures = not name.startswith("plan") and item != "json"
            idle += try_mode(place, told, base, values, chosen(item, values), measures)
    assert not idle, "these change nothing:\n" + "\n".join(idle)


def test_explain_is_a_report():
    """--explain alone reports, also of a program that makes no call."""
    tessera("run --engine host --explain -- true").ok().warns("0 level-3 BLAS calls")


def test_every_command_is_tried():
    named = {row["name"] for row in tessera("--help=json").json()["commands"]}
    assert named | {"plan pgemm"} == set(COMMANDS)
