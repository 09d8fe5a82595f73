# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The command `tessera` that comes with the package: python -m tessera gemm a.npy b.npy -o c.npy.

python -m tessera run script.py runs a Python program with Tessera before its BLAS."""
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def _command() -> str | None:
    """The command in the package (a wheel), in the build tree that the package is in, or of the
    system; not the script that calls this."""
    package = Path(__file__).resolve().parent
    for folder in (package / "bin", package.parent.parent / "bin"):
        if (folder / "tessera").exists():
            return str(folder / "tessera")
    found = shutil.which("tessera")
    if found is None or os.path.realpath(found) == os.path.realpath(sys.argv[0]):
        return None
    return found


def _with_python(words: list[str]) -> list[str]:
    """The words of `run`, with this Python before a script: the program begins at the first word
    that is a file with the ending .py, or at -m or -c."""
    if "--" in words:
        return words
    for i, word in enumerate(words):
        if word in ("-m", "-c") or (word.endswith(".py") and os.path.exists(word)):
            return [*words[:i], "--", sys.executable, *words[i:]]
    return words


def main() -> None:
    command, words = _command(), sys.argv[1:]
    if command is None:
        sys.exit("tessera: the command is not in this installation; install Tessera's tools")
    # The package may have been unpacked without the permission to execute.
    if not os.access(command, os.X_OK):
        sys.exit(f"tessera: {command} cannot be executed; chmod +x it")
    if words[:1] == ["run"]:
        words = ["run", *_with_python(words[1:])]
    os.execv(command, [command, *words])


if __name__ == "__main__":
    main()
