#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Runs what README.md and docs/ show, and compares the output.

  <!-- file: gram.c -->          the block that follows is written to this file
  <!-- run -->                   the block that follows is run: lines that begin with "$ " are commands
  <!-- run: mpi, numpy -->       (lines behind them that begin with "> " go on), the rest is their output
  <!-- run: gpu -->              the same, left as it is where there is no GPU; what stands between <!-- where --> and
                                 <!-- end --> behind it says where and when it came out

Each page has an empty folder, in which its blocks are done in order, with Tessera installed from a build. In
outputs times, rates, rounding errors, dates and the computer may differ (but in a plan for a described machine, which says
the same everywhere), and "..." at the end of a line stands for anything.
A block that needs what is not here is skipped.
Usage: examples.py BUILD [--update] [PAGE ...]; --update writes what came out into the pages, COMMIT being the one that
is named beside GPUs' blocks. `--gpu` runs no other blocks than those."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WHERE = re.compile(r"<!-- where -->.*?<!-- end -->", re.DOTALL)
BLOCK = re.compile(r"^<!-- (?P<kind>file|run)(?:: (?P<what>[^>]*?))? -->\n(?P<head>```+\w*\n)"
                   r"(?P<body>.*?)(?P<end>^```+$)", re.DOTALL | re.MULTILINE)
UNITS = r"(?:[num]?s|min|%|times|[kMGT]?FLOP/s|[kMGT]?B/s|cores?|threads?)"
# A report says so only where the calls took a hundredth of the program's time, which the computer decides.
SHARE = re.compile(r" If those calls took no time, it would take \S+ \w+: at most \S+ times as fast\.")
VARIES = [(SHARE, ""),
          (re.compile(r"\d+ sockets?, \d+ cores?, [\d.]+ [GT]B|\d{4}-\d\d-\d\d"), "#"),
          (re.compile(rf"(?<![\w.])-?\d[\d.]*(?:e[-+]?\d+)?( ?){UNITS}(?![\w/])"), "#"),
          (re.compile(r"(?<![\w.])-?\d[\d.]*e[-+]?\d+"), "#"),
          (re.compile(r"[-=]{3,}"), "---")]


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def with_blocks():
    return [page for page in pages() if BLOCK.search(page.read_text(encoding="utf-8"))]


# ---- Where blocks run ----


class Place:
    """An installation, and the environment that finds it. only_gpu: blocks that need no GPU are left as they are."""

    def __init__(self, build, folder, only_gpu=False):
        self.only_gpu = only_gpu
        self.folder, prefix = Path(folder), Path(folder) / "usr"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        library = next(prefix.rglob("libtessera.so")).parent
        package = Path(build).resolve() / "python"
        self.python = python_with("numpy, cffi") or python_with("numpy")
        first = [f"{prefix}/bin", *([str(Path(self.python).parent)] if self.python else [])]
        clean = {k: v for k, v in os.environ.items() if not k.startswith("TESSERA_")}
        libraries = f"{library}:{clean.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        self.env = {**clean, "PATH": ":".join([*first, clean["PATH"]]), "LD_LIBRARY_PATH": libraries,
                    "PKG_CONFIG_PATH": str(library / "pkgconfig"),
                    "PYTHONPATH": str(package), "XDG_CACHE_HOME": f"{folder}/cache",
                    "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                    "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                    "OMPI_MCA_hwloc_base_binding_policy": "none"}
        self.has = {"numpy": self.python is not None, "mpi": (prefix / "bin/tessera-pgemm").exists(),
                    "fortran": shutil.which("gfortran") is not None, "c++": shutil.which("g++") is not None,
                    "scalapack": any(Path("/usr/lib").glob("*/libscalapack-openmpi.so")) and shutil.which("mpif90"),
                    "python": (package / "tessera").is_dir() and python_with("numpy, cffi") is not None,
                    "gpu": bool(gpus())}

    def lacks(self, needs):
        return [need for need in needs if not self.has[need]]

    def run(self, command, folder):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        return done.returncode, done.stdout.decode(errors="replace")


def gpus():
    """The names of this computer's GPUs."""
    if not shutil.which("nvidia-smi"):
        return []
    done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True,
                          check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def where(commit):
    """On which computer, when and at which commit GPUs' blocks were run."""
    names = gpus()
    return f"({len(names)} {names[0]} and {os.cpu_count()} cores, {date.today()}, commit {commit})"


def python_with(modules):
    for name in (ROOT / "build-wheels/bin/python", sys.executable, "/usr/bin/python3"):
        if Path(name).exists() and subprocess.run([name, "-c", f"import {modules}"], stderr=subprocess.DEVNULL,
                                                  check=False).returncode == 0:
            return name
    return None


# ---- Blocks ----


def steps(body):
    """[(the lines that show a command, the command, the output that is shown)]."""
    found = []
    for line in body.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line, line[2:], ""])
        elif line.startswith("> ") and found and not found[-1][2]:
            found[-1][0] += line
            found[-1][1] += line[2:]
        elif found:
            found[-1][2] += line
    return found


def shape(text):
    """A text without what differs from run to run; where its lines are broken depends on numbers, too."""
    text = " ".join(text.split())
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return text


def is_prediction(command, files):
    """A plan for a described machine says the same everywhere; so does a program of the page, {name: text}, that makes
    a context of one."""
    if re.search(r"\btessera plan .*--machine ", command, re.DOTALL):
        return True
    return any(name in command.split() and re.search(r"\bmachine=", text) for name, text in files.items())


def same(shown, came, exactly=False):
    """exactly: figures count, too; only where lines are broken does not."""
    plain = (lambda text: " ".join(text.split())) if exactly else shape
    parts = re.split(r"\.\.\.$", shown, flags=re.MULTILINE)
    return re.fullmatch(" ?.*?".join(re.escape(plain(part)) for part in parts), plain(came)) is not None


class Page:
    """A page whose blocks are being done."""

    def __init__(self, path, place):
        self.path, self.place, self.wrong, self.skipped = path, place, [], []
        self.folder = Path(tempfile.mkdtemp(dir=place.folder))
        self.files = {}  # what the page has written: {name: text}

    def block(self, match):
        """Does a block; its text as it ought to be."""
        kind, what, body = match["kind"], match["what"] or "", match["body"]
        if kind == "file":
            (self.folder / what).write_text(body, encoding="utf-8")
            self.files[what] = body
            return match[0]
        needs = [need.strip() for need in what.split(",") if need.strip()]
        if "gpu" in self.place.lacks(needs) or (self.place.only_gpu and "gpu" not in needs):
            return match[0]
        if self.place.lacks(needs):
            self.skipped.append(f"{self.path.name}: needs {', '.join(self.place.lacks(needs))}")
            return match[0]
        new = "".join(map(self.step, steps(body)))
        return match[0][:match.start("body") - match.start()] + new + match["end"]

    def step(self, step):
        shown, command, output = step
        code, came = self.place.run(command, self.folder)
        if code != 0:
            self.wrong.append(f"{self.path.name}: exit code {code} of {command}{came}")
        elif not same(output, came, is_prediction(command, self.files)):
            self.wrong.append(f"{self.path.name}: {command}--- shown\n{output}--- came\n{came}")
        else:
            came = output
        return shown + came


def do_page(path, place):
    """(the text as it ought to be, what is wrong, what was skipped)."""
    page = Page(path, place)
    text = BLOCK.sub(page.block, path.read_text(encoding="utf-8"))
    return text, page.wrong, page.skipped


def main(build, *words):
    chosen = [Path(word).resolve() for word in words if not word.startswith("--")] or with_blocks()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        place = Place(build, folder, "--gpu" in words)
        for path in chosen:
            text, wrong, skipped = do_page(path, place)
            failed |= bool(wrong)
            print(*wrong, *(f"skip {line}" for line in skipped), sep="\n", end="\n" if wrong or skipped else "")
            if "--update" in words and gpus():
                text = WHERE.sub(f"<!-- where -->{where(os.environ.get('COMMIT', 'unknown'))}<!-- end -->", text)
            if "--update" in words:
                path.write_text(text, encoding="utf-8")
    if failed and "--update" not in words:
        sys.exit(f"Outputs differ: python3 tools/docs/examples.py {build} --update")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
