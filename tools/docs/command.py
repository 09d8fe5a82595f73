# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the command says of itself (--help=json): its subcommands with their options, and the settings."""
import json
import re
import subprocess


class NotBuilt(Exception):
    """A subcommand that this build lacks, such as pgemm in a build without MPI."""


def ask(tessera, *words):
    done = subprocess.run([tessera, *words, "--help=json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotBuilt(f"{' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def describe(tessera):
    """{"commands": [...], "settings": [...]}. Each command has name ("gemm", "plan pgemm"), help (a line),
    usage, summary, options and example. Commands that the build lacks are left out."""
    told = ask(tessera)
    commands = []
    for row in told["commands"]:
        for name in [row["name"], *(["plan pgemm"] if row["name"] == "plan" else [])]:
            try:
                commands.append({**ask(tessera, *name.split()), "name": name, "help": row["help"]})
            except NotBuilt:
                continue
    for row in commands:
        if row["name"] == "plan pgemm":
            row["help"] = "plan a product across processes and predict its time"
    return {"commands": commands, "settings": told["settings"]}


def choices(option):
    """The words that may be given to an option: of "cuda|hip|host|cpu" all four, of "N|LIST" none, since
    LIST stands for something else."""
    words = option.get("value", "").split("|")
    if len(words) < 2:
        return []
    literal = all(len(word) == 1 for word in words) or all(re.fullmatch("[a-z0-9-]+", w) for w in words)
    return words if literal else []


def takes_file(option):
    return re.search(r"FILE|\.npy|DIR", option.get("value", "")) is not None


def flags(option):
    """As they are typed: --output, -o."""
    return [f"--{option['name']}", *([f"-{option['letter']}"] if "letter" in option else [])]
