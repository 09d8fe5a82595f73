# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Arrays in memory of the library's: pinned ones, which are NumPy's, and ones on devices."""
from __future__ import annotations

import math
import os
import sys
import weakref
from numbers import Integral
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _dlpack
from ._arguments import text_of, wholes_of
from ._library import ArgumentError, OutOfMemoryError, check, ffi, lib
from ._matrix import SIZES, Matrix, dense_strides, numpy_type

if TYPE_CHECKING:
    from ._handle import Handle

HOST = -1  # TSR_HOST


def _free(handle: Handle, pointer: int, process: int) -> None:
    """Of a process that was forked the memory is a copy that goes with the process."""
    if process == os.getpid() and handle.pointer:
        lib.tsr_free(handle.pointer, ffi.cast("void *", pointer))


class Block:
    """Memory of tsr_malloc, given back when nobody refers to the block any more. It keeps its
    context from being destroyed."""

    def __init__(self, handle: Handle, device: int, size: int) -> None:
        if size > sys.maxsize:
            raise OutOfMemoryError(f"there is no room for {size} bytes; give a smaller shape")
        pointer = ffi.new("void **")
        check(lib.tsr_malloc(handle.pointer, device, size, pointer))
        self.handle = handle
        self.device = device
        self.address = int(ffi.cast("uintptr_t", pointer[0]))
        self.size = size
        # When Python ends, the context gives back what is left.
        weakref.finalize(self, _free, handle, self.address, os.getpid()).atexit = False


class _Pinned:
    """What NumPy makes an array of."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (block.size,),
                                    "data": (block.address, False)}


def check_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    remedy = "give extents of 0 or more"
    extents = wholes_of("shape", (shape,) if isinstance(shape, Integral) else shape, remedy, -sys.maxsize)
    if any(extent < 0 for extent in extents):
        raise ArgumentError(f"shape is {extents}; {remedy}")
    return extents


def _without_nul(dtype: Any) -> Any:
    """NumPy takes the text of one NUL for a type."""
    return text_of("dtype", dtype, "give a type of numbers") if isinstance(dtype, str) else dtype


def check_order(order: str) -> str:
    if not isinstance(order, str) or order not in ("C", "F"):
        raise ArgumentError(f"order is {order!r}; give 'C' (rows are contiguous) or 'F' (columns)")
    return order


def pinned(handle: Handle, shape: int | Sequence[int], dtype: Any, order: str
           ) -> np.ndarray[Any, Any]:
    extents = check_shape(shape)
    try:
        kind = numpy_type("b") if isinstance(dtype, str) and dtype in ("b", "bfloat16") \
            else np.dtype(_without_nul(dtype))
    except ArgumentError:
        raise
    except Exception:
        raise ArgumentError(f"dtype is {dtype!r}, which is no type; give a type of numbers") from None
    if kind.hasobject or kind.itemsize == 0:
        raise ArgumentError(f"dtype is {kind}; give a type of numbers")
    check_order(order)
    count = math.prod(extents) * kind.itemsize
    block = handle.carry_out(lambda: Block(handle, HOST, max(1, count)))
    memory = np.asarray(_Pinned(block))[:count]
    return memory.view(kind).reshape(extents, order="C" if order == "C" else "F")


class DeviceArray:
    """A matrix in the memory of a device. tessera.empty(..., device=0) makes one.

    Other libraries take it without a copy, by DLPack or, on GPUs, by
    __cuda_array_interface__: cupy.from_dlpack(x), torch.from_dlpack(x), jax.dlpack.from_dlpack(x).
    get() and set() copy to and from the host. x.T is the transpose, in the same memory.
    """

    ndim = 2

    def __init__(self, block: Block, shape: tuple[int, int], strides: tuple[int, int], letter: str
                 ) -> None:
        self._block = block
        self._strides = strides  # in elements
        self._letter = letter
        self.shape = shape

    def __repr__(self) -> str:
        kind = "emulated device" if self._is_emulated else "GPU"
        return (f"<tessera.DeviceArray {self.shape[0]} x {self.shape[1]} {self.dtype} on {kind} "
                f"{self.device}>")

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the elements."""
        return numpy_type(self._letter)

    @property
    def device(self) -> int:
        """The context's number of the device."""
        return self._block.device

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.shape[0] * self.shape[1] * SIZES[self._letter]

    @property
    def T(self) -> DeviceArray:
        """The transpose, in the same memory."""
        return DeviceArray(self._block, self.shape[::-1], self._strides[::-1], self._letter)

    @property
    def _is_emulated(self) -> bool:
        return self._block.handle.engine not in _dlpack.OF_ENGINE

    def _tessera_matrix(self, name: str) -> Matrix:
        return Matrix(name, self, self._block, self._block.address, *self.shape, *self._strides,
                      self._letter)

    # ---- Copies ----

    def _whole(self) -> str:
        return "C" if self._strides[1] == 1 and self._strides[0] >= self.shape[1] else "F"

    def get(self) -> np.ndarray[Any, Any]:
        """A copy in host memory, after all calls that were made before."""
        host = np.empty(self.shape, self.dtype, order="C" if self._whole() == "C" else "F")
        self._copy(host.ctypes.data, self._block.address, host)
        return host

    def set(self, values: Any) -> DeviceArray:
        """Copies values (anything that NumPy makes an array of, with this shape) to the device.
        Returns the array itself."""
        try:
            host = np.asarray(values, self.dtype, order="C" if self._whole() == "C" else "F")
        except Exception as error:
            raise ArgumentError(f"values cannot be made an array of {self.dtype}: {error}") from None
        if host.shape != self.shape:
            raise ArgumentError(f"values has the shape {host.shape}; give {self.shape}")
        self._copy(self._block.address, host.ctypes.data, host)
        return self

    def _copy(self, to: int, source: int, host: Any) -> None:
        self._block.handle.copy(to, source, self.nbytes, self._block, host)

    # ---- Other libraries ----

    def __dlpack_device__(self) -> tuple[int, int]:
        if self._is_emulated:
            return _dlpack.CPU, 0  # the memory of an emulated device is the host's
        return _dlpack.OF_ENGINE[self._block.handle.engine], self._block.handle.device_number(self.device)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Any = None) -> Any:
        """The array as a capsule. Waits for the calls that were made before, so that the consumer
        has to wait for nothing."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array stays on its device; get() copies it to the host, and "
                              f"the device {dl_device} cannot have it")
        if copy:
            raise BufferError("the array is given without a copy; copy it where it is needed")
        self._block.handle.sync()
        return _dlpack.give(self._block, self._block.address, self.shape, self._strides,
                            self._letter, self.__dlpack_device__())

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._is_emulated:
            raise AttributeError("__cuda_array_interface__")
        self._block.handle.sync()
        size = SIZES[self._letter]
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str,
                "data": (self._block.address, False), "stream": None,
                "strides": tuple(step * size for step in self._strides)}


def on_device(handle: Handle, shape: int | Sequence[int], letter: str, order: str, device: int
              ) -> DeviceArray:
    extents = check_shape(shape)
    if len(extents) != 2:
        raise ArgumentError(f"shape is {extents}; an array on a device is a matrix: give two extents")
    m, n = extents
    strides = dense_strides(m, n, check_order(order))
    block = handle.carry_out(lambda: Block(handle, device, max(1, m * n * SIZES[letter])))
    return DeviceArray(block, (m, n), strides, letter)
