# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Contexts: which devices and which machine, the routines on them, and memory."""
from __future__ import annotations

import os
import re
import threading
import weakref
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Iterator, Sequence, overload

import numpy as np

from . import _arrays, _waiting
from ._arguments import (check_device, device_of, file_of, one_or_several, path_of, text_of, whether, whole_of,
                         wholes_of)
from ._compose import Composition, Future, Submitter, compose
from ._handle import Handle, Streams
from ._layout import OPERATIONS
from ._library import ArgumentError, Error, check, ffi, lib, take_text
from ._matrix import letter_of
from ._plan import Plan, Planner
from ._prepare import c_arithmetic, given_back, prepare
from ._routines import Request, Routines
from ._stacks import stacked
from ._typed import ArrayRoutines
from ._types import A, Array, Order, Product, RoutineName, Shape, Triangular

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ._arrays import DeviceArray


@dataclass(frozen=True)
class Traffic:
    """Bytes that plans have moved since the context was made, and the number of plans."""

    host_to_device: float
    device_to_host: float
    device_to_device: float
    within_devices: float
    plans: int


# ---- Options ----


def _devices_text(devices: int | str | Sequence[int] | None) -> str | None:
    remedy = "give a count, a list such as [0, 2], or text such as '..4'"
    if devices is None or isinstance(devices, str):
        return devices
    if isinstance(devices, (int, Integral)):
        return str(whole_of("devices", devices, remedy))
    numbers = [str(device) for device in wholes_of("devices", devices, remedy)]
    if not numbers:
        raise ArgumentError("devices is empty; give a count, or a list such as [0, 2]")
    return ",".join(numbers) + ("," if len(numbers) == 1 else "")


def _budgets_text(memory: int | str | Sequence[int | str] | None) -> str | None:
    if memory is None:
        return None
    remedy = "give bytes, text such as '16G', or a list with one for each device"
    budgets = [text_of("memory", each, remedy) if isinstance(each, str) and each else
               str(whole_of("memory", each, remedy)) for each in one_or_several(memory)]
    if not budgets:
        raise ArgumentError(f"memory is {memory!r}; {remedy}")
    return ",".join(budgets)


def _handle_of(texts: dict[str, str | None], numbers: dict[str, int]) -> Handle:
    """Makes the library's context. A text that is None and a number that is -1 are defaults."""
    kept = {name: ffi.new("char[]", text_of(name, text, "give text").encode())
            for name, text in texts.items() if text is not None}

    def make() -> Handle:
        try:
            return Handle(ffi.new("tsr_options *", {"size": ffi.sizeof("tsr_options"), **kept, **numbers}))
        except ArgumentError as error:  # the library's name for it is another one
            raise ArgumentError(re.sub("^budgets", "memory", error.message)) from None
    made: Handle = _waiting.carry_out(make, [])
    return made


def _whether(name: str, value: bool | None) -> int:
    return -1 if value is None else int(whether(name, value))


def _leave(handle: Handle) -> None:
    """Behind a context that was not closed: an error of a call has nobody to be told to."""
    if handle.process == os.getpid():
        with suppress(Error):
            handle.sync_here()


# ---- Contexts ----


class Context(ArrayRoutines):
    """Devices and a machine to plan for, and the routines on them. The functions of the module use
    one that is made when it is first needed (default_context).

    engine: "cuda", "hip", "host" (emulated devices), "cpu" (the CPU's BLAS); None: the best that is
    here.
    devices: a count (4), a list ([0, 2]), or text: "..4" for at most four; None: all that help.
    machine: a machine's file, string or name; None: this machine, measured when first needed.
    memory: bytes for each device, "16G", or a list with one for each device; None: 80 % of what is
    free. reproducible: the same bits on any number of devices. check: every plan is verified.
    trace: measured times are kept with plans, for timelines. arithmetic: "native", "emulated" (calls
    of float32 and float64 from products of 8-bit integers, as accurate), "emulated:12" with so many
    moduli, "emulated:1e-6" with that accuracy, or "auto". None everywhere: what the environment says
    (TESSERA_ENGINE and so on).

    Threads may share a context; the GIL is released while calls run. After a fork the child makes a
    context of its own. close() ends the context, and so does the end of a `with`; memory that
    empty() has made stays until its arrays are gone.
    """

    def __init__(self, *, engine: str | None = None,
                 devices: int | str | Sequence[int] | None = None,
                 machine: str | os.PathLike[str] | None = None,
                 memory: int | str | Sequence[int | str] | None = None,
                 reproducible: bool | None = None, check: bool | None = None,
                 trace: bool = False, arithmetic: str | None = None) -> None:
        self._handle_or_none: Handle | None = _handle_of(
            {"engine": engine, "devices": _devices_text(devices),
             "machine": None if machine is None else path_of("machine", machine),
             "budgets": _budgets_text(memory), "arithmetic": arithmetic},
            {"reproducible": _whether("reproducible", reproducible), "check": _whether("check", check),
             "trace": int(whether("trace", trace))})
        weakref.finalize(self, _leave, self._handle_or_none).atexit = False

    @property
    def _handle(self) -> Handle:
        if self._handle_or_none is None:
            raise ArgumentError("the context is closed; make another one")
        return self._handle_or_none

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle_or_none is None:
            return "<tessera.Context, closed>"
        return f"<tessera.Context, engine {self.engine}, {self.devices} devices>"

    def close(self) -> None:
        """Waits for all calls and ends the context. Raises an error of a call that is still
        untold."""
        handle, self._handle_or_none = self._handle_or_none, None
        if handle is not None and handle.process == os.getpid():
            handle.sync()

    # ---- Calls ----

    def _carry_out(self, request: Request) -> Any:
        handle = self._handle
        streams = Streams(handle)
        prepared = prepare(request, handle, streams.of_producer)

        def call() -> None:
            for x in prepared.call.operands.values():
                streams.add(x)
            # With a stream the library's function may return before the call is complete.
            keeping = handle.keeping(prepared) if handle.tied or streams.chosen else nullcontext()
            with keeping, streams.tied():
                handle.check(lib.tsr_level3_run(handle.pointer, *prepared.arguments))
            streams.after()
        handle.carry_out(call)
        return given_back(prepared.out, request) if request.out is None else prepared.out

    def _carry_out_stack(self, request: Request) -> Any:
        stack = stacked(request)
        if len(stack.requests) == 1:
            self._carry_out(stack.requests[0])
        elif stack.requests:
            Submitter(self._handle).submit_all(stack.requests, stack.out).result()
        return stack.result

    @overload
    def submit(self, routine: Product, a: A, *arrays: Array, **arguments: Any) -> Future[A]: ...

    @overload
    def submit(self, routine: Triangular, a: Array, b: A, *arrays: Array, **arguments: Any) -> Future[A]: ...

    def submit(self, routine: RoutineName, *arrays: Any, **arguments: Any) -> Future[Any]:
        """Begins a call, submit("gemm", a, b, alpha=2), and returns a Future at once: the routine and
        its arguments are those of the method with that name. The arrays must not be changed until
        the call is complete."""
        future: Future[Any] = _method(Submitter(self._handle), routine)(*arrays, **arguments)
        return future

    def composed(self) -> AbstractContextManager[Composition]:
        """Calls that leave their results on the devices:

            with context.composed() as t:
                x = t.trsm(l, b)
                c = t.gemm(x, x.T)

        Results come home when they are read, and all of them at the end."""
        return compose(self._handle)

    def plan(self, routine: RoutineName, *operands: Array | Shape, dtype: DTypeLike = np.float64,
             homes: str | int | Sequence[str | int] | None = None, **arguments: Any) -> Plan:
        """The plan of a call, which is not carried out: plan("gemm", a, b). The arguments are those
        of the method with that name. In the place of an array there may be a shape, (rows, columns),
        of a matrix of the type dtype that does not exist. homes: where the matrices are, for all or
        for each of a, b and the result: "pageable", "pinned", "managed", or a device's number."""
        made: Plan = _method(Planner(self._handle, dtype, homes), routine)(*operands, **arguments)
        return made

    def last_plan(self) -> Plan:
        """The plan of the last call that is complete; with its measured times, where the context was
        made with trace."""
        found = ffi.new("tsr_plan **")
        check(lib.tsr_plan_last(self._handle.pointer, found))
        return Plan(found[0])

    def sync(self) -> None:
        """Waits for all asynchronous calls, and raises the first error of any of them since the last
        sync."""
        self._handle.sync()

    def sync_home(self) -> None:
        """As sync, and brings the results of all compositions to host memory: what an array that was
        given as out holds is right afterwards. Copies stay on the devices."""
        self._handle.sync_home()

    # ---- Memory ----

    @overload
    def empty(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: None = None) -> np.ndarray[Any, Any]: ...

    @overload
    def empty(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: int) -> DeviceArray: ...

    @overload
    def empty(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: int | None = None) -> np.ndarray[Any, Any] | DeviceArray: ...

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: int | None = None) -> Any:
        """A new array without values. In host memory (device None) it is a NumPy array in pinned
        memory, which GPUs copy several times faster than other memory; on a device it is a
        DeviceArray, a matrix. The memory is given back with the last array that uses it."""
        if device is None:
            return _arrays.pinned(self._handle, shape, dtype, order)
        letter, number = letter_of(dtype), device_of("device", device)
        check_device("device", number, self._handle.devices)
        return _arrays.on_device(self._handle, shape, letter, order, number)

    @overload
    def zeros(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: None = None) -> np.ndarray[Any, Any]: ...

    @overload
    def zeros(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: int) -> DeviceArray: ...

    @overload
    def zeros(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: int | None = None) -> np.ndarray[Any, Any] | DeviceArray: ...

    def zeros(self, shape: int | Sequence[int], dtype: DTypeLike = np.float64, order: Order = "C", *,
              device: int | None = None) -> Any:
        """As empty, with zeros."""
        made: Any = self.empty(shape, dtype, order, device=device)
        if device is None:
            made[...] = 0
        else:
            made.set(np.zeros(made.shape, made.dtype))
        return made

    @contextmanager
    def pinned(self, array: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
        """Pins the memory of a NumPy array in place while the `with` lasts. Worth its while (about
        as much as one slow copy) for an array that several calls use."""
        if not isinstance(array, np.ndarray) or not (array.flags.c_contiguous
                                                     or array.flags.f_contiguous):
            raise ArgumentError("array is not a contiguous NumPy array; give one")
        handle, pointer = self._handle, ffi.cast("void *", array.ctypes.data)
        if array.nbytes == 0:  # there is nothing to pin
            yield array
            return
        check(lib.tsr_register(handle.pointer, pointer, array.nbytes))
        try:
            yield array
        finally:
            def unregister() -> None:
                _ = array  # stays until its memory is no longer pinned
                check(lib.tsr_unregister(handle.pointer, pointer))

            handle.carry_out(unregister)

    def set_arithmetic(self, arithmetic: str | None) -> None:
        """Sets how later calls are computed, as Context's argument does; None: what the environment
        says. Calls under way keep theirs. For one call alone: its argument arithmetic, which other
        threads do not see."""
        check(lib.tsr_set_arithmetic(self._handle.pointer, c_arithmetic(arithmetic)))

    def trim(self) -> None:
        """Waits for the calls under way, then gives the memory that the context keeps for later
        calls back to the system."""
        handle = self._handle
        handle.carry_out(lambda: check(lib.tsr_trim(handle.pointer)))

    # ---- Streams and questions ----

    def set_stream(self, device: int, stream: Any) -> None:
        """Ties a CUDA stream to a device: later calls wait for what is on the stream, and what is
        put on the stream later waits for them. stream: a handle (an int), an object with the
        attribute `ptr` (CuPy) or `cuda_stream` (PyTorch), or None, which unties. A call on arrays
        on GPUs then returns when it is on the stream."""
        value = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream))
        number = 0 if value is None else whole_of(
            "stream", value, "give a handle, a stream of CuPy's or PyTorch's, or None", most=2**64 - 1) or 1
        handle, device = self._handle, device_of("device", device)
        with handle.tying:
            handle.set_stream(device, number)
            handle.streams.pop(device, None)
            if number:
                handle.streams[device] = number

    @property
    def engine(self) -> str:
        """The engine: "cuda", "hip", "host" (emulated devices) or "cpu"."""
        return self._handle.engine

    @property
    def devices(self) -> int:
        """The number of devices; 0 when the CPU's BLAS does the work."""
        return self._handle.devices

    @property
    def traffic(self) -> Traffic:
        """What all plans have moved since the context was made."""
        found = ffi.new("tsr_traffic *")
        check(lib.tsr_context_traffic(self._handle.pointer, found))
        return Traffic(found.host_to_device, found.device_to_host, found.device_to_device,
                       found.within_devices, found.plans)

    @property
    def machine(self) -> str:
        """The machine that calls are planned for, as JSON, which a machine file may hold."""
        handle = self._handle

        def call() -> str:
            printed = ffi.new("char **")
            check(lib.tsr_machine_print(handle.pointer, lib.TSR_JSON, printed))
            return take_text(printed)
        found: str = handle.carry_out(call)
        return found

    @contextmanager
    def timeline(self, file: str | os.PathLike[str]) -> Iterator[None]:
        """Writes the times of all commands of the calls within the `with` to a file, as a trace for
        https://ui.perfetto.dev; also when the `with` ends by an exception."""
        handle, printed, path = self._handle, ffi.new("char **"), file_of("file", file).absolute()
        with open(path, "a", encoding="utf-8"):
            pass  # a path that is wrong is told at once
        check(lib.tsr_timeline_begin(handle.pointer))
        try:
            yield
        finally:
            handle.carry_out(lambda: check(lib.tsr_timeline_end(handle.pointer, printed)))
            path.write_text(take_text(printed), encoding="utf-8")


def _method(routines: Routines[Any], name: str) -> Any:
    if not isinstance(name, str) or name not in (*OPERATIONS, "matmul"):
        raise ArgumentError(f"routine is {name!r}; give matmul or one of {', '.join(OPERATIONS)}")
    return getattr(routines, name)


# ---- The context of the module's functions ----

_default: Context | None = None
_making = threading.Lock()


def default_context() -> Context:
    """The context of the module's functions, made when it is first asked for."""
    global _default
    with _making:
        if _default is None or _default._handle_or_none is None:
            _default = Context()
        return _default


def set_default_context(context: Context | None) -> None:
    """Lets the module's functions use this context; None: a new one, made when it is needed."""
    global _default
    if context is not None and not isinstance(context, Context):
        raise ArgumentError(f"context is {context!r}; give a tessera.Context or None")
    with _making:
        _default = context


def _after_fork() -> None:
    """In the child: the parent's contexts have no threads here."""
    global _default, _making
    _default, _making = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class _OfModule(ArrayRoutines):
    """The module's functions."""

    def _carry_out(self, request: Request) -> Any:
        return default_context()._carry_out(request)

    def _carry_out_stack(self, request: Request) -> Any:
        return default_context()._carry_out_stack(request)
