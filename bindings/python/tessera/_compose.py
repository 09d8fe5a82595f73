# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Asynchronous calls: futures, and compositions, whose results stay on the devices."""
from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import replace
from numbers import Integral
from typing import Any, Generator, Generic, Iterator, Sequence

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ._arguments import pair_of, whether, whole_of
from ._layout import ONE_TRIANGLE, TRIANGULAR
from ._handle import Handle, Region, Streams, region_of, regions_of
from ._library import ArgumentError, Error, check, ffi, lib, owned, take_text
from ._matrix import Matrix, matrix_of, span
from ._prepare import Prepared, given_back, prepare
from ._routines import Request, Routines
from ._stacks import stacked
from ._types import A

def _run(handle: Handle, prepared: Prepared, streams: Streams) -> None:
    """Makes the call and returns before it is complete."""
    for x in prepared.call.operands.values():
        streams.add(x)
    with streams.tied():
        handle.check(lib.tsr_level3_run_async(handle.pointer, *prepared.arguments))


def _written(prepared: Prepared) -> tuple[int, Region]:
    """The region of the result, and its triangle, column-major as the region is."""
    call = prepared.call
    uplo = call.flags.uplo if call.operation in ONE_TRIANGLE else "G"
    if call.by_rows:
        uplo = {"L": "U", "U": "L"}.get(uplo, uplo)
    return ord(uplo), regions_of(call)["c"]


# ---- Futures ----


class Future(Generic[A]):
    """A call that is carried out beside the program. The arrays that it uses must not be changed
    until it is complete; they are kept until then."""

    def __init__(self, handle: Handle, prepared: list[Prepared], event: Any, out: Any,
                 request: Request | None = None) -> None:
        """prepared: its calls. request: what was asked, if `out` may have to become another
        library's array."""
        self._handle = handle
        self._out = out
        self._prepared: list[Prepared] | None = prepared
        self._request = request
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

    def result(self) -> A:
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
        made: A = self._out
        return made

    def _settle(self, error: Exception | None) -> None:
        """Everything is complete."""
        self._error = self._error or error
        self._prepared = None
        with self._handle.lock:
            self._handle.waiting.discard(self)

    def __await__(self) -> Generator[Any, None, A]:
        import asyncio

        return asyncio.get_running_loop().run_in_executor(None, self.result).__await__()


class Submitter(Routines["Future[Any]"]):
    """Carries each routine out beside the program: routines return a Future."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def _carry_out(self, request: Request) -> Future[Any]:
        streams = Streams(self._handle)
        prepared = prepare(request, self._handle, streams.of_producer)
        return self._submit([(prepared, streams)], prepared.out, request)

    def _carry_out_stack(self, request: Request) -> Future[Any]:
        stack = stacked(request)
        return self.submit_all(stack.requests, stack.result)

    def submit_all(self, requests: list[Request], out: Any) -> Future[Any]:
        """Several calls, whose results are in `out`, as one."""
        calls = []
        for request in requests:
            streams = Streams(self._handle)
            calls.append((prepare(request, self._handle, streams.of_producer), streams))
        return self._submit(calls, out, None)

    def _submit(self, calls: list[tuple[Prepared, Streams]], out: Any, request: Request | None) -> Future[Any]:
        handle, kept = self._handle, [prepared for prepared, _ in calls]

        def submit() -> Future[Any]:
            with handle.keeping(kept):
                for prepared, streams in calls:
                    _run(handle, prepared, streams)
                    self._bring_home(prepared)
                return Future(handle, kept, handle.record(), out, request)
        future: Future[Any] = handle.carry_out(submit)
        return future

    def _bring_home(self, prepared: Prepared) -> None:
        """Nothing stays on the devices: the program may change or free the arrays afterwards. Arrays
        that a composition has there come home, too."""
        handle = self._handle
        uplo, c = _written(prepared)
        handle.check(lib.tsr_coherent_async(handle.pointer, uplo, *c.arguments))
        for region in regions_of(prepared.call).values():
            if region != c:
                handle.check(lib.tsr_coherent_async(handle.pointer, ord("G"), *region.arguments))
            handle.check(lib.tsr_release(handle.pointer, *region.arguments))


# ---- Compositions ----


class Result(NDArrayOperatorsMixin):
    """The result of a call in a composition: it is on the devices, and comes to host memory when it
    is read or when the composition ends. Give it to the composition's routines as it is; everywhere
    else it reads as a NumPy array. `array` is that array; x.T is the transpose."""

    ndim = 2

    def __init__(self, composition: Composition, held: Any, region: Region) -> None:
        self._composition = composition
        self._held = held
        self._region = region

    @property
    def array(self) -> Any:
        """The array with its values. Raises an error if the result is lost."""
        self._composition._bring_home(self._region)
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
        return Result(self._composition, self._held.T, self._region)

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


class Composition(Routines["Result"]):
    """Calls that leave their results on the devices, so that a sequence of them moves no byte twice.
    Made by composed(). Routines return a Result at once; results come to host memory when they are
    read, and all of them at the end of the `with`.

    Arrays that the calls use must not be changed meanwhile, or changed() be told before the next
    call. Results come home also if an exception leaves the `with`. When a call fails, every result that had
    not been read is lost: reading it raises the error, and an array that was given as out is undefined.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._regions: dict[Region, None] = {}  # those that calls have used, in their order
        self._results: dict[Region, int] = {}  # those that are not home, with their triangles
        self._lost: dict[Region, Error] = {}  # results that do not come home any more, and why
        self._discarded: set[Region] = set()
        self._kept: list[Any] = []
        self._open = True
        with handle.lock:
            handle.waiting.add(self)

    # ---- Calls ----

    def _carry_out(self, request: Request) -> Result:
        if not self._open:
            raise ArgumentError("the composition has ended; make calls within its `with`")
        handle = self._handle
        request = replace(request, **{name: self._operand(name, getattr(request, name), request)
                                      for name in ("a", "b", "c", "out")})
        streams = Streams(handle)
        prepared = prepare(request, handle, streams.of_producer)

        def submit() -> Result:
            self._note(prepared)
            with handle.keeping(prepared):
                _run(handle, prepared, streams)
            uplo, c = _written(prepared)
            self._lost.pop(c, None)
            self._discarded.discard(c)
            self._results[c] = uplo if self._results.get(c, uplo) == uplo else ord("G")
            return Result(self, prepared.out, c)
        result: Result = handle.carry_out(submit)
        return result

    def _note(self, prepared: Prepared) -> None:
        """Before a call: its arrays are kept, and their copies on the devices forgotten at the end."""
        self._kept.append(prepared)
        self._regions.update(dict.fromkeys(regions_of(prepared.call).values()))

    def _operand(self, name: str, given: Any, request: Request) -> Any:
        if not isinstance(given, Result):
            return given
        if name != "out":
            given._composition._refuse_lost(given._region)
        # The host copies the operand that the result overwrites, unless it is the result's own memory.
        begins = "b" if request.operation in TRIANGULAR else "c"
        is_copied = name == begins and request.out is not given
        return given.array if is_copied or given._composition is not self else given._held

    def _refuse_lost(self, region: Region) -> None:
        error = self._lost.get(region)
        if error is not None:
            raise type(error)(f"the result is lost: {error.message}")
        if region in self._discarded and not self._open:
            raise ArgumentError("the result was discarded, and the composition has ended; do not discard "
                                "what is to be read")

    def _settle(self, error: Error | None) -> None:
        """All calls are complete. After an error nothing is on the devices any more."""
        if error is not None:
            self._lost.update(dict.fromkeys((*self._results, *self._discarded), error))
            self._results.clear()

    def _bring_home(self, region: Region) -> None:
        """Brings one result home. At the end of the composition all are on their way; if the wait for
        them was interrupted, they are waited for here."""
        self._refuse_lost(region)
        if region in self._discarded:
            self._discarded.discard(region)
            self._results[region] = ord("G")
        if region not in self._results:
            return
        if self._open:
            self._handle.carry_out(lambda: self._bring({region: self._results[region]}))
        else:
            self._handle.sync()
        self._refuse_lost(region)

    def _bring(self, results: dict[Region, int]) -> None:
        """Brings results home and waits for them, in the thread of Handle.carry_out."""
        handle = self._handle
        with handle.keeping(list(self._kept)):
            for region, uplo in results.items():
                handle.check(lib.tsr_coherent_async(handle.pointer, uplo, *region.arguments))
        handle.sync_here()
        for region in list(results):
            self._results.pop(region, None)

    # ---- Arrays ----

    def _matrix(self, array: Any, name: str = "array") -> Matrix:
        held = array._held if isinstance(array, Result) else array
        return matrix_of(name, held, Streams(self._handle).of_producer)

    def _region(self, array: Any, name: str = "array") -> Region:
        x = self._matrix(array, name)
        for by_rows in (True, False):
            ld = x.leading(by_rows)
            if ld is not None:
                return region_of(x, by_rows, ld)
        raise ArgumentError(f"{name} has rows and columns that are not contiguous; give another")

    def sync_home(self) -> None:
        """Brings all results to host memory and waits for them; copies stay on the devices."""
        self._handle.sync_home()

    def changed(self, array: Any) -> None:
        """Says that the program has changed an array, or is about to: later calls read it anew."""
        region = self._region(array)
        check(lib.tsr_invalidate(self._handle.pointer, *region.arguments))

    def discard(self, result: Result) -> None:
        """Says that a result is not needed in host memory: it does not come home at the end."""
        region = result._region if isinstance(result, Result) else self._region(result, "result")
        if self._results.pop(region, None) is not None:
            self._discarded.add(region)

    def map(self, array: Any, block: int | Sequence[int], grid: Sequence[int] | None = None, *,
            move: bool = False) -> None:
        """Maps the blocks of an array to devices: later calls that write to it compute each block on
        its device. block nb: nb rows of a C-ordered array (columns of an F-ordered one), to all
        devices in turn. block (rows, columns) with grid (p, q): to p x q devices. move: the blocks
        begin to be copied to their devices."""
        remedy = "give one extent without a grid, or two extents with a grid of two"
        if grid is None and not isinstance(block, Integral):
            raise ArgumentError(f"block is {block!r} and grid {grid!r}; {remedy}")
        if grid is None:
            block = whole_of("block", block, remedy, 1)
        else:
            block, grid = pair_of("block", block, remedy), pair_of("grid", grid, remedy)
        move = whether("move", move)
        region, kind = self._region(array), "1d" if grid is None else "2d"
        name = f"tsr_distribute_{kind}_block_cyclic_async" if move else f"tsr_map_{kind}_block_cyclic"
        blocks = self._blocks(array, block, grid)

        def call() -> None:
            self._kept.append(array)
            self._regions[region] = None
            with self._handle.keeping(array):
                self._handle.check(getattr(lib, name)(self._handle.pointer, *region.arguments, *blocks))
        self._handle.carry_out(call)

    def _blocks(self, array: Any, block: Any, grid: Any) -> tuple[int, ...]:
        """Block and grid of the matrix as it is column-major."""
        if grid is None:
            return (block,)
        (mb, nb), (p, q) = block, grid
        return (nb, mb, q, p) if self._matrix(array).leading(True) is not None else (mb, nb, p, q)

    # ---- Captures ----

    @contextmanager
    def capture(self) -> Iterator[Capture]:
        """Keeps the calls of the `with` with their plans: Capture.run() makes them again, without
        planning, on what the same arrays hold then."""
        handle = self._handle
        handle.carry_out(lambda: handle.check(lib.tsr_capture_begin(handle.pointer)))
        before = dict(self._results)
        captured = Capture(self)
        try:
            yield captured
            with handle.keeping(list(self._kept)):
                for region, uplo in self._results.items():
                    if region not in before:
                        handle.check(lib.tsr_coherent_async(handle.pointer, uplo, *region.arguments))
        finally:
            captured._end()

    # ---- The end ----

    def _end(self) -> None:
        """Brings results home and forgets what is on the devices, in the thread of Handle.carry_out."""
        handle = self._handle
        try:
            self._bring(self._results)
        except Error as error:
            self._settle(error)
            raise
        finally:
            for region in self._regions:
                lib.tsr_release(handle.pointer, *region.arguments)
            with handle.lock:
                handle.waiting.discard(self)


@contextmanager
def compose(handle: Handle) -> Iterator[Composition]:
    composition = Composition(handle)
    try:
        yield composition
    except BaseException as error:
        composition._open = False
        if isinstance(error, Exception):
            with suppress(Error):  # results that are lost say so when they are read
                handle.carry_out(composition._end)
        else:  # the user wants the program to end, or to go on, now
            handle.go_on(composition._end, error)
        raise
    composition._open = False
    handle.carry_out(composition._end)


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
        handle, pointer = self._composition._handle, self._ready()

        def call() -> None:
            with handle.keeping(list(self._composition._kept)):
                handle.check(lib.tsr_capture_run_async(pointer))
            handle.sync_here()
        handle.carry_out(call)

    def move(self, array: np.ndarray[Any, Any], to: np.ndarray[Any, Any]) -> None:
        """Later runs use the memory of `to` in the place of that of `array`: NumPy arrays of one
        shape, type and order."""
        for name, each in (("array", array), ("to", to)):
            if not isinstance(each, np.ndarray):
                raise TypeError(f"{name} is a {type(each).__name__}; give an array of NumPy")
        if array.shape != to.shape or array.strides != to.strides or array.dtype != to.dtype:
            raise ArgumentError(f"to is {to.dtype} {to.shape} with the strides {to.strides}; give "
                                f"{array.dtype} {array.shape} with the strides {array.strides}, as array is")
        x, y = self._composition._matrix(array), self._composition._matrix(to, "to")
        region = self._composition._region(to, "to")
        check(lib.tsr_capture_move(self._ready(), ffi.cast("void *", x.address), len(span(x)),
                                   ffi.cast("void *", y.address)))
        self._composition._kept.append(to)
        self._composition._regions[region] = None

    def __str__(self) -> str:
        printed = ffi.new("char **")
        check(lib.tsr_capture_print(self._ready(), lib.TSR_TEXT, printed))
        return take_text(printed)
