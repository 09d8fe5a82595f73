# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Writes tessera/_native.py, the declarations of a header and of what it includes, for cffi's ABI mode.

Called by CMake: build_native.py COMPILER HEADER SONAME OUTPUT. The compiler only preprocesses. The
output is Python alone, so that one wheel serves several versions of Python.
"""
from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import cffi

# The system's headers that ours include: cffi knows their types by itself.
SYSTEM_HEADERS = ("stddef.h", "stdint.h")


def declarations(compiler: str, header: str) -> str:
    """The header as cffi reads it: without its comments, macros and attributes."""
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            (Path(empty) / name).write_text("")
        command = [compiler, "-E", "-P", "-x", "c", "-nostdinc", "-U__GNUC__", "-I", empty, header]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(compiler: str, header: str, soname: str, output: str) -> None:
    ffi = cffi.FFI()
    ffi.set_source("tessera._native", None)
    ffi.cdef(declarations(compiler, header))
    ffi.emit_python_code(output)
    with open(output, "a", encoding="utf-8") as file:
        file.write(f"\nSONAME = {soname!r}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
