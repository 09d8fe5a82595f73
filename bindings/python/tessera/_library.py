# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Loads libtessera and turns its statuses into exceptions."""
from __future__ import annotations

import builtins
import ctypes
import os
from pathlib import Path
from typing import Any

from ._native import SONAME
from ._native import ffi as ffi


class Error(Exception):
    """A call of the library failed. `message` names the cause and the remedy; `status` is the
    library's name of the failure, such as "TSR_ERR_DEVICE"."""

    status = "TSR_ERR_INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ArgumentError(Error, ValueError):
    """An argument is wrong; nothing was changed."""

    status = "TSR_ERR_ARGUMENT"


class OutOfMemoryError(Error, builtins.MemoryError):
    """There is not enough host or device memory, or a budget is too small."""

    status = "TSR_ERR_MEMORY"


class MachineError(Error):
    """A machine file or string cannot be read or makes no sense."""

    status = "TSR_ERR_MACHINE"


class EngineError(Error):
    """There is no such engine, or it cannot be used here."""

    status = "TSR_ERR_ENGINE"


class DeviceError(Error):
    """A device failed while it worked; the result is undefined."""

    status = "TSR_ERR_DEVICE"


class CheckError(Error):
    """Checking mode found a plan or an execution to be wrong."""

    status = "TSR_ERR_CHECK"


class FileError(Error):
    """A file cannot be read or written."""

    status = "TSR_ERR_IO"


class UnsupportedError(Error):
    """This build or this engine does not have what was asked for."""

    status = "TSR_ERR_UNSUPPORTED"


class InternalError(Error):
    """A fault of the library: please report it."""


_CLASSES = {
    kind.status: kind
    for kind in (ArgumentError, OutOfMemoryError, MachineError, EngineError, DeviceError,
                 CheckError, FileError, UnsupportedError, InternalError)
}


# Its threads may still run when Python unloads modules, so the library stays loaded.
_FLAGS = ffi.RTLD_NOW | ffi.RTLD_LOCAL | ffi.RTLD_NODELETE


def _open() -> Any:
    """Opens the library in the package (a wheel), else in the build tree that the package is in,
    else the system's."""
    package = Path(__file__).resolve().parent
    for folder in (package / "lib", package.parent.parent / "lib"):
        if (folder / SONAME).exists():
            return ffi.dlopen(str(folder / SONAME), _FLAGS)
    return ffi.dlopen(SONAME, _FLAGS)


lib = _open()


def text(c_string: Any) -> str:
    return str(ffi.string(c_string).decode(errors="replace"))


def error_now(status: int) -> Error:
    """The exception for a status that a call in this thread has just returned."""
    kind = _CLASSES.get(text(lib.tsr_status_name(status)), InternalError)
    return kind(text(lib.tsr_message()))


def check(status: int) -> None:
    if status != lib.TSR_OK:
        raise error_now(status)


def take_text(pointer: Any) -> str:
    """Reads a text that the library made with malloc (char **), and frees it."""
    try:
        return text(pointer[0])
    finally:
        _free(int(ffi.cast("uintptr_t", pointer[0])))


def owned(pointer: Any, destroy: Any) -> Any:
    """The pointer, which is destroyed when nobody refers to it any more. A process that was forked
    leaves it: locks of the library may be held there by threads that it does not have."""
    process = os.getpid()

    def end(what: Any, getpid: Any = os.getpid) -> None:
        if getpid() == process:
            destroy(what)

    return ffi.gc(pointer, end)


# free() of the process, which belongs to the library's malloc.
_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None


def version() -> str:
    """The version of the library that is loaded, such as "0.2.0"."""
    return text(lib.tsr_version())


def version_number() -> int:
    """The same as a number: 10000 major + 100 minor + patch."""
    return int(lib.tsr_version_number())
