# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""DLPack in both directions, by ctypes alone: https://dmlc.github.io/dlpack."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from ._library import ArgumentError

# Kinds of device, and of elements.
CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST, CUDA_MANAGED = 1, 2, 3, 10, 11, 13
ON_HOST = (CPU, CUDA_HOST, ROCM_HOST)
ON_GPU = (CUDA, CUDA_MANAGED, ROCM)
OF_ENGINE = {"cuda": CUDA, "hip": ROCM}
ENGINES = {CUDA: "cuda", CUDA_MANAGED: "cuda", ROCM: "hip"}
FLOAT, BFLOAT, COMPLEX = 2, 4, 5

# The library's letter of a type, by kind of element and bits.
LETTERS = {(FLOAT, 32): "s", (FLOAT, 64): "d", (COMPLEX, 64): "c", (COMPLEX, 128): "z",
           (FLOAT, 16): "h", (BFLOAT, 16): "b"}
KINDS = {letter: kind for kind, letter in LETTERS.items()}

READ_ONLY = 1  # flag of versioned tensors


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


_api = ctypes.pythonapi
_api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_New.restype = ctypes.py_object

_NAME, _VERSIONED_NAME = b"dltensor", b"dltensor_versioned"
_USED, _VERSIONED_USED = b"used_dltensor", b"used_dltensor_versioned"


# ---- Taking an array of another library ----


class Imported(NamedTuple):
    """What a capsule says, and its owner, which gives the memory back when it is collected."""

    owner: Any
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    letter: str | None  # None: a type that the library does not have
    type_name: str
    read_only: bool


class _Owner:
    """Keeps the memory behind a capsule until it is collected."""

    def __init__(self, managed: Managed | Versioned) -> None:
        self.managed = managed

    def __del__(self) -> None:
        if self.managed.deleter:
            _deleter(self.managed.deleter)(ctypes.addressof(self.managed))


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def take(name: str, capsule: Any) -> Imported:
    """Takes the capsule of the argument `name` over, as the protocol wants it: only once."""
    read_only = False
    managed: Managed | Versioned
    if _api.PyCapsule_IsValid(id(capsule), _VERSIONED_NAME):
        managed = Versioned.from_address(_api.PyCapsule_GetPointer(id(capsule), _VERSIONED_NAME))
        _api.PyCapsule_SetName(capsule, _VERSIONED_USED)
        read_only = bool(managed.flags & READ_ONLY)
    elif not _api.PyCapsule_IsValid(id(capsule), _NAME):
        raise ArgumentError(f"{name} is exported by DLPack as {capsule!r}, which is no capsule of an array, or "
                            "was taken already; give another array")
    else:
        managed = Managed.from_address(_api.PyCapsule_GetPointer(id(capsule), _NAME))
        _api.PyCapsule_SetName(capsule, _USED)
    owner, tensor = _Owner(managed), managed.tensor
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides \
        else _row_major(shape)
    letter = LETTERS.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return Imported(owner, (tensor.data or 0) + tensor.byte_offset, shape, strides, letter,
                    f"DLPack's code {tensor.code} with {tensor.bits} bits", read_only)


# ---- Giving an array to another library ----

_given: dict[int, Any] = {}  # what is kept for consumers, by the address of its Managed


def _forget(address: int) -> None:
    _given.pop(address, None)


def _end_capsule(capsule: int) -> None:
    """Gives back what a capsule holds that nobody took."""
    if _api.PyCapsule_IsValid(capsule, _NAME):
        _forget(_api.PyCapsule_GetPointer(capsule, _NAME))


# As C calls them.
_c_forget, _c_end_capsule = _deleter(_forget), _deleter(_end_capsule)


def give(keep: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...], letter: str,
         device: tuple[int, int]) -> Any:
    """A capsule of memory that is there as long as `keep` is."""
    code, bits = KINDS[letter]
    extents = ctypes.c_int64 * len(shape)
    c_shape, c_strides = extents(*shape), extents(*strides)
    managed = Managed(
        tensor=Tensor(data=address, device_type=device[0], device_id=device[1], ndim=len(shape),
                      code=code, bits=bits, lanes=1,
                      shape=ctypes.cast(c_shape, ctypes.POINTER(ctypes.c_int64)),
                      strides=ctypes.cast(c_strides, ctypes.POINTER(ctypes.c_int64))),
        deleter=ctypes.cast(_c_forget, ctypes.c_void_p))
    place = ctypes.addressof(managed)
    _given[place] = (managed, c_shape, c_strides, keep)
    return _api.PyCapsule_New(place, _NAME, ctypes.cast(_c_end_capsule, ctypes.c_void_p))
