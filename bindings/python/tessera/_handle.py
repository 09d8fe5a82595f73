# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A context of the library, and the calls and streams that belong to it."""
from __future__ import annotations

import atexit
import ctypes
import os
import threading
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Iterator

from . import _waiting
from ._layout import Call
from ._library import ArgumentError, DeviceError, Error, check, error_now, ffi, lib, text
from ._matrix import Matrix


@dataclass(frozen=True)
class Home:
    """Where memory is."""

    memory: int  # tsr_memory
    location: int  # the device


@dataclass(frozen=True)
class Region:
    """A matrix in memory, column-major, as the library's functions on regions take it."""

    m: int
    n: int
    address: int
    ld: int
    letter: str

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.m, self.n, ffi.cast("void *", self.address), self.ld, ord(self.letter)


def region_of(x: Matrix, by_rows: bool, ld: int) -> Region:
    m, n = (x.columns, x.rows) if by_rows else (x.rows, x.columns)
    return Region(m, n, x.address, ld, x.letter)


def regions_of(call: Call) -> dict[str, Region]:
    """Those of the call's operands, as they are in memory."""
    return {name: region_of(x, x.leading(True) == call.ld[name], call.ld[name])
            for name, x in call.operands.items()}


class _Kept:
    """What calls use that are under way."""

    def __init__(self, what: Any) -> None:
        self.what = what
        self.event: Any = None  # behind the calls; None: not known, and a sync tells when they are complete
        self.made = False  # the calls are made


class Handle:
    """A context of the library. It is destroyed when nobody refers to it any more: neither the
    Context, nor memory of tsr_malloc, nor a call under way."""

    def __init__(self, options: Any) -> None:
        pointer = ffi.new("tsr_context **")
        check(lib.tsr_context_create(options, pointer))
        self.pointer = pointer[0]
        self.process = os.getpid()
        # Guards waiting and under_way. The collector may end a context within.
        self.lock = threading.RLock()
        # Futures that are not complete, and compositions that have not ended.
        self.waiting: weakref.WeakSet[Any] = weakref.WeakSet()
        self.under_way: dict[int, _Kept] = {}  # in the order of their calls
        self.interrupted: list[_waiting.Call] = []  # calls that go on beside the main thread
        self.tying = threading.RLock()  # held from tying a stream to untying it
        self.streams: dict[int, int] = {}  # those that the user has tied, by device
        self.tied = False  # whether a stream has been tied at any time
        weakref.finalize(self, _destroy, self.pointer, self.process).atexit = False
        _handles.add(self)

    # ---- Questions ----

    @property
    def engine(self) -> str:
        found = ffi.new("tsr_context_facts *")
        check(lib.tsr_context_describe(self.pointer, found))
        return text(found.engine)

    @property
    def devices(self) -> int:
        return int(lib.tsr_device_count(self.pointer))

    @property
    def planned_devices(self) -> int:
        """Those of the machine that calls are planned for, which may be another one than this."""
        found = ffi.new("tsr_context_facts *")
        check(lib.tsr_context_describe(self.pointer, found))
        return int(found.devices)

    def device_number(self, device: int) -> int:
        number = ffi.new("int *")
        check(lib.tsr_device_number(self.pointer, device, number))
        return int(number[0])

    def home(self, address: int, size: int) -> Home:
        found = ffi.new("tsr_home *")
        check(lib.tsr_home_find(self.pointer, ffi.cast("void *", address), size, found))
        return Home(found.memory, found.location)

    # ---- Calls that may take long ----

    def _behind_interrupted(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """The function behind the calls that were interrupted, as if these had been waited for."""
        earlier = [call for call in self.interrupted if not call.wait(0)]
        if not earlier or self.process != os.getpid():
            return function

        def in_order() -> Any:
            for call in earlier:
                call.wait()
            return function()
        return in_order

    def carry_out(self, function: Callable[[], Any]) -> Any:
        """function(), which may take long; handlers of signals run meanwhile. What the function refers
        to is kept until it has ended, even if a handler's exception ends the wait for it."""
        return _waiting.carry_out(self._behind_interrupted(function), self.interrupted)

    def go_on(self, function: Callable[[], Any], error: BaseException) -> None:
        """Carries the function out beside the program, which the error is about to leave."""
        _waiting.go_on(self._behind_interrupted(function), self.interrupted, error)

    # ---- Copying and waiting ----

    def copy(self, to: int, source: int, size: int, *keep: Any) -> None:
        """keep: what has the memory."""
        def call(kept: Any = keep) -> None:
            self.check(lib.tsr_memcpy(self.pointer, ffi.cast("void *", to), ffi.cast("void *", source), size))
        self.carry_out(call)

    def record(self) -> Any:
        event = ffi.new("tsr_event *")
        check(lib.tsr_event_record(self.pointer, event))
        return event

    def wait(self, event: Any) -> None:
        self.carry_out(lambda: check(lib.tsr_event_wait(self.pointer, event)))

    def is_complete(self, event: Any) -> bool:
        complete = ffi.new("int *")
        check(lib.tsr_event_query(self.pointer, event, complete))
        return bool(complete[0])

    def sync(self) -> None:
        """Waits for all calls. An error of any of them is also the error of all futures that were
        under way and of all results on the devices, since what calls had on the devices is lost then."""
        self.carry_out(self.sync_here)

    def sync_home(self) -> None:
        """As sync, and brings all results home. Their arrays are kept until then."""
        with self.lock:
            kept = [list(getattr(each, "_kept", ())) for each in self.waiting]

        def call(kept: Any = kept) -> None:
            self.sync_here(lib.tsr_sync_home)
        self.carry_out(call)

    def sync_here(self, sync: Any = None) -> None:
        """sync in this thread, whichever it is. sync: the library's function that waits."""
        with self.lock:
            complete = list(self.waiting)
            kept = [key for key, each in self.under_way.items() if each.made]
        status = (sync or lib.tsr_sync)(self.pointer)
        error = None if status == lib.TSR_OK else error_now(status)
        self._settle(complete, error)
        self._let_go(kept)
        ended = [call for call in self.interrupted if call.wait(0)]
        for call in ended:
            self.interrupted.remove(call)
        if error is not None:
            raise error
        for call in ended:
            call.take()

    def _settle(self, complete: list[Any], error: Error | None) -> None:
        with self.lock:
            settled = complete if error is None else list(self.waiting)
        for each in settled:
            each._settle(error)

    def check(self, status: int) -> None:
        """As check, for calls that run: when a device fails, everything on the devices is lost."""
        if status == lib.TSR_OK:
            return
        error = error_now(status)
        if isinstance(error, DeviceError):
            self._settle([], error)
        raise error

    @contextmanager
    def keeping(self, what: Any) -> Iterator[None]:
        """Keeps the arrays of calls that are made within the `with` until these are complete, whoever
        lets them go."""
        self._let_go_complete()
        mine = _Kept(what)
        with self.lock:
            self.under_way[id(mine)] = mine
        try:
            yield
        finally:
            try:
                mine.event = self.record()
            except Error:
                pass  # they are kept until the next sync
            mine.made = True

    def _let_go_complete(self) -> None:
        with self.lock:
            kept = list(self.under_way.values())
        done = []
        for each in kept:
            if each.event is None:
                continue
            if not self.is_complete(each.event):
                break  # nor are the later ones
            done.append(id(each))
        self._let_go(done)

    def _let_go(self, keys: list[int]) -> None:
        """Behind the lock, since arrays that go may be memory of the library, which waits."""
        with self.lock:
            gone = [self.under_way.pop(key, None) for key in keys]
        gone.clear()

    # ---- Streams ----

    def set_stream(self, device: int, stream: int) -> None:
        self.tied |= stream != 0
        check(lib.tsr_set_stream(self.pointer, device, ffi.cast("void *", stream)))


_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


def _destroy(pointer: Any, process: int) -> None:
    if process == os.getpid():
        lib.tsr_context_destroy(pointer)


@atexit.register
def _sync_all() -> None:
    """When Python ends: calls under way read and write arrays that are about to go. A thread that goes on may
    make more of them, and the user may break off this wait: what is kept for calls is not freed any more."""
    ours = [handle for handle in list(_handles) if handle.process == os.getpid()]
    for handle in ours:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(handle))
    for handle in ours:
        for call in list(handle.interrupted):
            call.wait()
        lib.tsr_sync(handle.pointer)


# ---- Streams of a call ----


class Streams:
    """The streams of a call's matrices on GPUs: the call waits for what is on them, and what is put
    on them later waits for the call. A device has one stream for each call: that which the user has
    tied to the context, else the current one of the first array's library."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.chosen: dict[int, int] = {}  # by device
        self.waits = False  # the call is waited for: a library's stream does not wait for it

    def _device(self, number: int) -> int:
        for device in range(self.handle.devices):
            if self.handle.device_number(device) == number:
                return device
        raise ArgumentError(f"an array is on GPU {number}, which the context does not use; make a "
                            f"context with it: tessera.Context(devices=[{number}])")

    def of_producer(self, number: int, current: int | None, engine: str | None = None) -> int:
        """The stream on which the call waits for an array on the GPU that the runtime gives this number;
        current: the stream of the array's library, if that is known; engine: the
        one whose GPU it is, if that is known."""
        if engine is not None and engine != self.handle.engine:
            raise ArgumentError(f"an array is on a GPU of the engine {engine}, and the context's engine "
                                f"is {self.handle.engine}; make a context with it: "
                                f"tessera.Context(engine=\"{engine}\")")
        device, tied = self._device(number), self.handle.streams
        stream = self.chosen.setdefault(device, tied.get(device) or current or 1)
        self.waits |= stream != current and device not in tied
        return stream

    def add(self, x: Matrix) -> None:
        """A matrix whose producer told its stream, as __cuda_array_interface__ does."""
        if not x.on_gpu or x.bytes == 0 or x.exported:
            return
        device = self.handle.home(x.address, x.bytes).location
        self.waits |= device not in self.handle.streams
        if x.stream is not None and self.chosen.setdefault(device, x.stream) != x.stream:
            self._join(device, x.stream)

    def _join(self, device: int, stream: int) -> None:
        """Waits for a second stream of a device: a copy in host memory waits for tied streams."""
        one = ffi.new("char[2]")
        with self.tied({device: stream}):
            check(lib.tsr_memcpy(self.handle.pointer, one, one + 1, 1))

    @contextmanager
    def tied(self, streams: dict[int, int] | None = None) -> Iterator[None]:
        """Ties the streams for one call. One thread at a time."""
        handle, streams = self.handle, self.chosen if streams is None else streams
        if not streams:
            yield
            return
        with handle.tying:
            try:
                for device, stream in streams.items():
                    handle.set_stream(device, stream)
                yield
            finally:
                for device in streams:
                    handle.set_stream(device, handle.streams.get(device, 0))

    def after(self) -> None:
        """Behind a blocking call. A call made while a stream was tied, perhaps by another thread,
        may have returned before it was complete."""
        if self.waits or (self.handle.tied and not self.chosen):
            self.handle.wait(self.handle.record())
