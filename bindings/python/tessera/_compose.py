# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Asynchronous calls: futures, and compositions, whose results stay on the devices."""
from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Callable, Generator, Iterator, Sequence

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ._layout import RANKS, TRIANGULAR
from ._handle import Handle, Region, Streams, region_of, regions_of
from ._library import ArgumentError, Error, check, ffi, lib, owned, take_text
from ._matrix import Matrix, matrix_of, span
from ._prepare import Prepared, given_back, prepare
from ._routines import Request, Routines

# Routines that write one triangle; the others write all of C.
_TRIANGLE = ("gemmt", *RANKS)


def _submit(handle: Handle, request: Request) -> Prepared:
    """Makes the call and returns before it is complete."""
    streams = Streams(handle)
    prepared = prepare(request, handle, streams.of_producer)
    for x in prepared.call.operands.values():
        streams.add(x)
    with streams.tied():
        check(lib.tsr_level3_run_async(handle.pointer, *prepared.arguments))
    handle.keep_until_complete(prepared)
    return prepared


def _written(prepared: Prepared) -> tuple[int, Region]:
    """The region of the result, and its triangle, column-major as the region is."""
    call = prepared.call
    uplo = call.flags.uplo if call.operation in _TRIANGLE else "G"
    if call.by_rows:
        uplo = {"L": "U", "U": "L"}.get(uplo, uplo)
    return ord(uplo), regions_of(call)["c"]


# ---- Futures ----


class Future:
    """A call that is carried out beside the program. The arrays that it uses must not be changed
    until it is complete; they are kept until then."""

    def __init__(self, handle: Handle, prepared: Prepared, event: Any, request: Request) -> None:
        self._handle = handle
        self._out: Any = prepared.out
        self._prepared: Prepared | None = prepared
        self._request: Request | None = request
        self._event = event
        self._error: Exception | None = None
        self._giving = threading.Lock()  # several threads may ask for the result
        with handle.lock:
            handle.waiting.add(self)

    def __repr__(self) -> str:
        return f"<tessera.Future, {'complete' if self.done() else 'under way'}>"

    def done(self) -> bool:
        """Whether the call is complete, or has failed. Does not wait."""
        return self._prepared is None or self._handle.is_complete(self._event)

    def wait(self) -> None:
        """Waits until the call is complete or has failed, for no later call."""
        if self._prepared is not None:
            self._handle.wait(self._event)

    def result(self) -> Any:
        """Waits for the call, and for those that were made meanwhile, and returns its result. Raises
        the error of the call, or of another one that failed meanwhile: what all of them had on the
        devices is lost then."""
        if self._prepared is not None:
            try:
                self._handle.sync()
            except Error as error:
                self._settle(error)
        if self._error is not None:
            raise self._error
        with self._giving:
            request, self._request = self._request, None
            if request is not None and request.out is None:
                self._out = given_back(self._out, request)
        return self._out

    def _settle(self, error: Exception | None) -> None:
        """Everything is complete."""
        self._error = self._error or error
        self._prepared = None
        with self._handle.lock:
            self._handle.waiting.discard(self)

    def __await__(self) -> Generator[Any, None, Any]:
        import asyncio

        return asyncio.get_running_loop().run_in_executor(None, self.result).__await__()


class Submitter(Routines):
    """Carries each routine out beside the program: routines return a Future."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def _carry_out(self, request: Request) -> Future:
        handle = self._handle
        prepared = _submit(handle, request)
        uplo, c = _written(prepared)
        check(lib.tsr_coherent_async(handle.pointer, uplo, *c.arguments))
        # Nothing stays on the devices: the program may change or free the arrays afterwards. What a
        # composition has there comes home first.
        for region in regions_of(prepared.call).values():
            if region != c:
                check(lib.tsr_coherent_async(handle.pointer, ord("G"), *region.arguments))
            check(lib.tsr_release(handle.pointer, *region.arguments))
        return Future(handle, prepared, handle.record(), request)


# ---- Compositions ----


class Result(NDArrayOperatorsMixin):
    """The result of a call in a composition: it is on the devices, and comes to host memory when it
    is read or when the composition ends. Give it to the composition's routines as it is; everywhere
    else it reads as a NumPy array. `array` is that array; x.T is the transpose."""

    ndim = 2

    def __init__(self, composition: Composition, held: Any, read: Callable[[], None]) -> None:
        self._composition = composition
        self._held = held
        self._read = read

    @property
    def array(self) -> Any:
        """The array with its values."""
        self._read()
        return self._held

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self._held.shape
        return int(rows), int(columns)

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self._held.dtype

    @property
    def T(self) -> Result:
        """The transpose, in the same memory."""
        return Result(self._composition, self._held.T, self._read)

    def __repr__(self) -> str:
        return f"<tessera.Result {self.shape[0]} x {self.shape[1]} {self.dtype}>"

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.array[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        values = np.asarray(self.array, dtype)
        return values.copy() if copy and values is self._held else values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
        if any(isinstance(out, Result) for out in more.get("out", ())):
            return NotImplemented
        plain = (x.array if isinstance(x, Result) else x for x in inputs)
        return getattr(ufunc, method)(*plain, **more)

    def _tessera_array(self) -> Any:
        return self.array


class Composition(Routines):
    """Calls that leave their results on the devices, so that a sequence of them moves no byte twice.
    Made by composed(). Routines return a Result at once; results come to host memory when they are
    read, and all of them at the end of the `with`.

    Arrays that the calls use must not be changed meanwhile, or changed() be told before the next
    call. When a call fails, every result that had not been read is undefined.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._regions: dict[Region, None] = {}  # those that calls have used, in their order
        self._results: dict[Region, int] = {}  # those that are not home, with their triangles
        self._kept: list[Any] = []
        self._open = True

    # ---- Calls ----

    def _carry_out(self, request: Request) -> Result:
        if not self._open:
            raise ArgumentError("the composition has ended; make calls within its `with`")
        handle = self._handle
        request = replace(request, **{name: self._operand(name, getattr(request, name), request)
                                      for name in ("a", "b", "c", "out")})
        prepared = _submit(handle, request)
        self._kept.append(prepared)
        uplo, c = _written(prepared)
        self._regions.update(dict.fromkeys(regions_of(prepared.call).values()))
        self._results[c] = uplo if self._results.get(c, uplo) == uplo else ord("G")
        return Result(self, prepared.out, self._reader(c))

    def _operand(self, name: str, given: Any, request: Request) -> Any:
        if not isinstance(given, Result):
            return given
        # The host copies the operand that the result overwrites, unless it is the result's own memory.
        begins = "b" if request.operation in TRIANGULAR else "c"
        is_copied = name == begins and request.out is not given
        return given.array if is_copied or given._composition is not self else given._held

    def _reader(self, region: Region) -> Callable[[], None]:
        this = weakref.ref(self)

        def read() -> None:
            composition = this()
            if composition is not None:
                composition._bring_home(region)

        return read

    def _bring_home(self, region: Region) -> None:
        uplo = self._results.get(region)
        if uplo is None:
            return
        check(lib.tsr_coherent_async(self._handle.pointer, uplo, *region.arguments))
        self._handle.sync()
        self._results.pop(region, None)

    # ---- Arrays ----

    def _matrix(self, array: Any) -> Matrix:
        held = array._held if isinstance(array, Result) else array
        return matrix_of("array", held, Streams(self._handle).of_producer)

    def _region(self, array: Any) -> Region:
        x = self._matrix(array)
        for by_rows in (True, False):
            ld = x.leading(by_rows)
            if ld is not None:
                return region_of(x, by_rows, ld)
        raise ArgumentError("array has rows and columns that are not contiguous; give another")

    def changed(self, array: Any) -> None:
        """Says that the program has changed an array, or is about to: later calls read it anew."""
        region = self._region(array)
        check(lib.tsr_invalidate(self._handle.pointer, *region.arguments))

    def discard(self, result: Result) -> None:
        """Says that a result is not needed in host memory: it does not come home at the end."""
        self._results.pop(self._region(result), None)

    def map(self, array: Any, block: int | Sequence[int], grid: Sequence[int] | None = None, *,
            move: bool = False) -> None:
        """Maps the blocks of an array to devices: later calls that write to it compute each block on
        its device. block nb: nb rows of a C-ordered array (columns of an F-ordered one), to all
        devices in turn. block (rows, columns) with grid (p, q): to p x q devices. move: the blocks
        begin to be copied to their devices."""
        if (grid is None) != isinstance(block, int):
            raise ArgumentError(f"block is {block!r} and grid {grid!r}; give one extent without a "
                                "grid, or two extents with a grid of two")
        region, kind = self._region(array), "1d" if grid is None else "2d"
        name = f"tsr_distribute_{kind}_block_cyclic_async" if move else f"tsr_map_{kind}_block_cyclic"
        check(getattr(lib, name)(self._handle.pointer, *region.arguments,
                                 *self._blocks(array, block, grid)))
        self._regions[region] = None

    def _blocks(self, array: Any, block: Any, grid: Any) -> tuple[int, ...]:
        """Block and grid of the matrix as it is column-major."""
        if grid is None:
            return (int(block),)
        (mb, nb), (p, q) = block, grid
        return (nb, mb, q, p) if self._matrix(array).leading(True) is not None else (mb, nb, p, q)

    # ---- Captures ----

    @contextmanager
    def capture(self) -> Iterator[Capture]:
        """Keeps the calls of the `with` with their plans: Capture.run() makes them again, without
        planning, on what the same arrays hold then."""
        check(lib.tsr_capture_begin(self._handle.pointer))
        before = dict(self._results)
        captured = Capture(self)
        try:
            yield captured
            for region, uplo in self._results.items():
                if region not in before:
                    check(lib.tsr_coherent_async(self._handle.pointer, uplo, *region.arguments))
        finally:
            captured._end()

    # ---- The end ----

    def _close(self, failed: bool) -> None:
        """Brings results home, unless the program failed, and forgets what is on the devices."""
        self._open = False
        pointer = self._handle.pointer
        try:
            if not failed:
                for region, uplo in self._results.items():
                    check(lib.tsr_coherent_async(pointer, uplo, *region.arguments))
            self._handle.sync()
        finally:
            self._results.clear()
            for region in self._regions:
                lib.tsr_release(pointer, *region.arguments)


@contextmanager
def compose(handle: Handle) -> Iterator[Composition]:
    composition = Composition(handle)
    try:
        yield composition
    except BaseException:
        try:
            composition._close(failed=True)
        except Exception:
            pass  # the program's own error is the one that is told
        raise
    composition._close(failed=False)


class Capture:
    """A sequence of calls with their plans; made by Composition.capture()."""

    def __init__(self, composition: Composition) -> None:
        self._composition = composition
        self._pointer: Any = None

    def _end(self) -> None:
        made = ffi.new("tsr_capture **")
        check(lib.tsr_capture_end(self._composition._handle.pointer, made))
        self._pointer = owned(made[0], lib.tsr_capture_destroy)

    def _ready(self) -> Any:
        if self._pointer is None or not self._composition._open:
            raise ArgumentError("the capture can run between the end of its `with` and the end of "
                                "the composition")
        return self._pointer

    def run(self) -> None:
        """Makes the calls again, and waits until their results are in host memory."""
        check(lib.tsr_capture_run_async(self._ready()))
        self._composition._handle.sync()

    def move(self, array: np.ndarray[Any, Any], to: np.ndarray[Any, Any]) -> None:
        """Later runs use the memory of `to` in the place of that of `array`: NumPy arrays of one
        shape, type and order."""
        if array.shape != to.shape or array.strides != to.strides or array.dtype != to.dtype:
            raise ArgumentError(f"to is {to.dtype} {to.shape} with the strides {to.strides}; give "
                                f"{array.dtype} {array.shape} with the strides {array.strides}")
        x, y = self._composition._matrix(array), self._composition._matrix(to)
        check(lib.tsr_capture_move(self._ready(), ffi.cast("void *", x.address), len(span(x)),
                                   ffi.cast("void *", y.address)))
        self._composition._kept.append(to)
        self._composition._regions[self._composition._region(to)] = None

    def __str__(self) -> str:
        printed = ffi.new("char **")
        check(lib.tsr_capture_print(self._ready(), lib.TSR_TEXT, printed))
        return take_text(printed)
