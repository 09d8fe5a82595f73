# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the routines need to know of an array, whichever library made it."""
from __future__ import annotations

import ctypes
import importlib
import sys
from dataclasses import dataclass
from operator import index
from typing import Any, Callable, Optional

import numpy as np

from . import _dlpack
from ._library import ArgumentError

# Bytes of an element, and NumPy's type, by the library's letter. bf16 has no type in NumPy itself.
SIZES = {"s": 4, "d": 8, "c": 8, "z": 16, "h": 2, "b": 2, "t": 4}
_NUMPY: dict[str, np.dtype[Any]] = {
    "s": np.dtype("f4"), "d": np.dtype("f8"), "c": np.dtype("c8"), "z": np.dtype("c16"),
    "h": np.dtype("f2")}
NAMES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128", "h": "float16",
         "b": "bfloat16", "t": "float32 (TF32)"}
COMPLEX = "cz"
HALVES = "hb"
_TAKEN = "float32, float64, complex64, complex128, float16 or bfloat16"

# Tells the stream on which the call waits for an array, from the runtime's number of its GPU and the stream
# on which the array's library works and the engine whose GPU it is, if they are known.
StreamOf = Callable[[int, Optional[int], Optional[str]], int]


@dataclass(frozen=True)
class Matrix:
    """A matrix in memory. Extents and strides count elements."""

    name: str  # the argument's, for messages
    array: Any  # what the user gave
    keep: Any  # what keeps the memory there
    address: int
    rows: int
    columns: int
    row_stride: int
    column_stride: int
    letter: str
    writable: bool = True
    conjugated: bool = False  # the elements are the conjugates of those in memory
    aligned: bool = True  # at multiples of the element's size
    on_gpu: bool = False
    stream: int | None = None  # what its producer works on, by the runtime's handle
    exported: bool = False  # the producer was told on which stream the call waits for it
    swapped: bool = False  # the bytes of each number are in the other order than this computer's

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def bytes(self) -> int:
        return self.rows * self.columns * SIZES[self.letter]

    def leading(self, by_rows: bool) -> int | None:
        """The leading dimension of the matrix as a row-major (by_rows) or column-major one; None:
        it is none."""
        m, n = self.shape if by_rows else (self.columns, self.rows)
        outer, inner = self.row_stride, self.column_stride
        if not by_rows:
            outer, inner = inner, outer
        if not self.aligned or self.swapped or (inner != 1 and n > 1 and m > 0):
            return None
        if m <= 1 or n == 0:
            return max(1, n)
        return outer if outer >= max(1, n) else None


def span(x: Matrix) -> range:
    """The addresses from the first element to the last."""
    steps = [(x.rows - 1) * x.row_stride, (x.columns - 1) * x.column_stride]
    size = SIZES[x.letter]
    return range(x.address + sum(min(step, 0) for step in steps) * size,
                 x.address + (sum(max(step, 0) for step in steps) + 1) * size)


def alignment(letter: str) -> int:
    """Bytes; a complex number is two real ones."""
    return SIZES[letter] // (2 if letter in COMPLEX else 1)


def dense_strides(rows: int, columns: int, order: str) -> tuple[int, int]:
    """Strides, in elements, of a matrix in order "C" or "F"."""
    return (max(1, columns), 1) if order == "C" else (1, max(1, rows))


def numpy_type(letter: str) -> np.dtype[Any]:
    """NumPy's type; that of bf16 comes with the package ml_dtypes."""
    if letter == "t":
        letter = "s"
    if letter in _NUMPY:
        return _NUMPY[letter]
    try:
        ml_dtypes = importlib.import_module("ml_dtypes")
    except ImportError:
        raise ArgumentError("bfloat16 is no type of NumPy itself; install the package ml_dtypes, "
                            "which adds it") from None
    kind: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return kind


def letter_of(dtype: Any, name: str = "dtype") -> str:
    """The library's letter for a type of NumPy's, or for its name."""
    if isinstance(dtype, str) and dtype in SIZES and dtype != "t":
        return dtype
    if isinstance(dtype, str) and dtype == "bfloat16":
        return "b"
    try:
        wanted = np.dtype(dtype)
    except Exception:  # TypeError, but for some texts another one
        raise ArgumentError(f"{name} is {dtype!r}, which is no type; give {_TAKEN}") from None
    for letter, known in _NUMPY.items():
        if wanted == known:
            return letter
    if wanted.name == "bfloat16":
        return "b"
    raise ArgumentError(f"{name} is {wanted}; give {_TAKEN}{_words_of_conversion(name, wanted)}")


def _words_of_conversion(name: str, wanted: np.dtype[Any]) -> str:
    """How NumPy makes the array one that is taken."""
    array, _, attribute = name.rpartition(".")
    if attribute != "dtype" or not array or wanted.kind not in "biufc":
        return ""
    return f": {array}.astype('{'complex128' if wanted.kind == 'c' else 'float64'}')"


def conversion(x: Matrix, letter: str) -> str:
    """What the program may write to get the matrix in another type; "": nothing as short as that."""
    library = type(x.array).__module__.split(".")[0]
    if library == "torch":
        return f"{x.name}.to(torch.{NAMES[letter]})"
    return f"{x.name}.astype('{NAMES[letter]}')" if hasattr(x.array, "astype") else ""


def _check_extents(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) == 2:
        return
    remedy = {0: "give a matrix", 1: f"give a matrix: {name}[:, None] is a column"}.get(
        len(shape), "give a matrix; matmul of a context takes stacks")
    raise ArgumentError(f"{name} has {len(shape)} dimensions, {shape}; {remedy}")


# ---- NumPy ----


def _of_numpy(name: str, array: np.ndarray[Any, Any]) -> Matrix:
    _check_extents(name, array.shape)
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(f"{name} is a masked array; give its data: {name}.filled(0)")
    native = array.dtype.newbyteorder("=")
    letter = letter_of(native, f"{name}.dtype")
    size = array.itemsize
    (rows, columns), (row, column) = array.shape, array.strides
    return Matrix(name, array, array, array.__array_interface__["data"][0], rows, columns,
                  row // size, column // size, letter, bool(array.flags.writeable),
                  aligned=bool(array.flags.aligned) and row % size == 0 and column % size == 0,
                  swapped=array.dtype != native)


# ---- Other libraries ----


def current_stream(array: Any) -> int | None:
    """The stream on which the array's library puts what it is told next; None: not known."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(array, torch.Tensor):
        # 0 is the legacy stream, which has the handle 1 where 0 stands for no stream.
        return int(torch.cuda.current_stream(array.device).cuda_stream) or 1
    if cupy is not None and isinstance(array, cupy.ndarray):
        with array.device:
            return int(cupy.cuda.get_current_stream().ptr) or 1
    return None


def _plain(name: str, array: Any) -> tuple[Any, bool]:
    """The array without torch's mark that it stands for its conjugate, and whether it had it."""
    negative, marked = getattr(array, "is_neg", None), getattr(array, "is_conj", None)
    if negative is not None and "torch" in sys.modules and negative():
        raise ArgumentError(f"{name} stands for the negative of its memory; give "
                            f"{name}.resolve_neg()")
    if marked is not None and "torch" in sys.modules and marked():
        return array.conj(), True
    return array, False


def _exported(name: str, array: Any, stream: int | None) -> Any:
    arguments = {} if stream is None else {"stream": stream}
    try:
        try:
            return array.__dlpack__(max_version=(1, 0), **arguments)
        except TypeError:  # a producer of before DLPack 1.0
            return array.__dlpack__(**arguments)
    except Exception as error:
        raise ArgumentError(f"{name} is a {type(array).__name__} that its library does not export: "
                            f"{error}; give another array") from error


def _device(name: str, array: Any) -> tuple[int, int]:
    """DLPack's kind and number of the device that the array is on."""
    try:
        kind, number = array.__dlpack_device__()
        return int(kind), int(number)
    except Exception as error:
        raise ArgumentError(f"{name} is a {type(array).__name__} that does not say by DLPack on which "
                            f"device it is: {error}; give another array") from error


def _check_memory(x: Matrix) -> Matrix:
    """Refuses what no array is. Of matrices without elements nothing is read."""
    if min(x.shape) < 0:
        raise ArgumentError(f"{x.name} has the shape {x.shape}; give extents of 0 or more")
    if x.bytes > 0 and x.address == 0:
        raise ArgumentError(f"{x.name} has elements, but its memory begins at the address 0; give "
                            "another array")
    if x.bytes > 0 and not 0 <= span(x).start < span(x).stop <= 2**63:
        raise ArgumentError(f"{x.name} has the strides {x.row_stride} and {x.column_stride}, which lead "
                            "out of memory; give another array")
    return x


def _of_dlpack(name: str, array: Any, stream_of: StreamOf) -> Matrix:
    array, conjugated = _plain(name, array)
    kind, number = _device(name, array)
    if kind not in _dlpack.ON_HOST + _dlpack.ON_GPU:
        raise ArgumentError(f"{name} is on a device of DLPack's kind {int(kind)}; give an array in "
                            "host memory or on an NVIDIA or AMD GPU")
    on_gpu = kind in _dlpack.ON_GPU
    try:
        stream = stream_of(number, current_stream(array), _dlpack.ENGINES[kind]) if on_gpu else None
    except ArgumentError as error:  # it is on no device of the context
        raise ArgumentError(f"{name}: {error.message}") from None
    x = _dlpack.take(name, _exported(name, array, stream))
    _check_extents(name, x.shape)
    if x.letter is None:
        raise ArgumentError(f"{name} has the type {x.type_name}; give {_TAKEN}")
    (rows, columns), (row, column) = x.shape, x.strides
    immutable = type(array).__module__.split(".")[0] in ("jax", "jaxlib")
    return _check_memory(Matrix(
        name, array, (array, x.owner), x.address, rows, columns, row, column, x.letter,
        not (x.read_only or immutable), conjugated, x.address % alignment(x.letter) == 0, on_gpu, stream,
        exported=True))


def _of_cuda_interface(name: str, array: Any) -> Matrix:
    told = array.__cuda_array_interface__
    try:
        shape = tuple(index(extent) for extent in told["shape"])
        strides = tuple(index(step) for step in told.get("strides") or ())
        address, read_only, kind = index(told["data"][0] or 0), bool(told["data"][1]), told["typestr"]
    except Exception as error:
        raise ArgumentError(f"{name} has a __cuda_array_interface__ that cannot be read: {error!r}; "
                            "give another array") from error
    _check_extents(name, shape)
    rows, columns = shape
    letter = letter_of(kind, f"{name}'s type")
    if told.get("mask") is not None:
        raise ArgumentError(f"{name} has a mask; give an array without one")
    size = SIZES[letter]
    row, column = strides if len(strides) == 2 else (columns * size, size)
    aligned = (address % alignment(letter), row % size, column % size) == (0, 0, 0)
    return _check_memory(Matrix(name, array, array, address, rows, columns, row // size, column // size,
                                letter, not read_only, aligned=aligned, on_gpu=True,
                                stream=told.get("stream")))


def matrix_of(name: str, array: Any, stream_of: StreamOf) -> Matrix:
    """What the routines need to know of an argument."""
    if isinstance(array, Matrix):
        return array
    if hasattr(array, "_tessera_array"):
        array = array._tessera_array()
    if hasattr(array, "_tessera_matrix"):
        own: Matrix = array._tessera_matrix(name)
        return own
    if isinstance(array, np.ndarray):
        return _of_numpy(name, array)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _of_dlpack(name, array, stream_of)
    if hasattr(array, "__cuda_array_interface__"):
        return _of_cuda_interface(name, array)
    raise TypeError(f"{name} is a {type(array).__name__}; give an array of NumPy, CuPy, PyTorch, "
                    "JAX or another library that has DLPack or __cuda_array_interface__")


# ---- Memory on the host, as NumPy sees it ----


def host_view(x: Matrix) -> np.ndarray[Any, Any]:
    """The matrix's memory as an array of NumPy's, without a copy."""
    if isinstance(x.array, np.ndarray):
        return x.array
    dtype = numpy_type(x.letter)
    if x.rows == 0 or x.columns == 0:
        return np.empty(x.shape, dtype)
    size, all_of_it = SIZES[x.letter], span(x)
    memory = (ctypes.c_char * len(all_of_it)).from_address(all_of_it.start)
    view: np.ndarray[Any, Any] = np.ndarray(
        x.shape, dtype, memoryview(memory), x.address - all_of_it.start,
        (x.row_stride * size, x.column_stride * size))
    return view


def copied(x: Matrix, by_rows: bool) -> Matrix:
    """The matrix in new host memory, with a row-major or column-major order."""
    values = host_view(x)
    if x.conjugated:
        values = values.conj()
    return _of_numpy(x.name, np.array(values, numpy_type(x.letter), order="C" if by_rows else "F", subok=False))
