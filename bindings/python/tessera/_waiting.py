# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Calls of the library that may take long.

Python runs the handlers of signals in the main thread alone, and only between instructions of its own:
a main thread that is inside the library would act on Ctrl-C when the call is over. So a call that the
main thread makes is carried out by another thread, while the main thread waits in slices. If a handler
raises an exception meanwhile, the exception is raised at once and says that the call goes on.
"""
from __future__ import annotations

import _thread
import os
import threading
from queue import SimpleQueue
from typing import Any, Callable

_SLICE = 0.1  # s; handlers run at least so often, whichever thread the system gives the signal to
_GRACE = 0.5  # s that a call has to end before the exception says that it goes on

_GOES_ON = ("the call that was interrupted goes on beside the program: its arrays are kept, and what it writes is "
            "complete after sync() of its context")


class Call:
    """A function that another thread carries out."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function: Callable[[], Any] | None = function
        self._result: Any = None
        self._error: BaseException | None = None
        self._wanted = True  # its result
        self._claim = _thread.allocate_lock()  # of the thread that carries it out, or drops it
        self._under_way = _thread.allocate_lock()
        self._under_way.acquire()

    def carry_out(self, before_the_end: Callable[[], None]) -> None:
        """In the other thread, unless the call was dropped."""
        if not self._claim.acquire(blocking=False):
            before_the_end()
            return
        assert self._function is not None
        try:
            self._result = self._function()
        except BaseException as error:
            self._error = error
        self._function = None
        if not self._wanted:
            self._result = None
        before_the_end()
        self._under_way.release()

    def drop(self) -> bool:
        """Whether the call has not begun; then it never will."""
        dropped = self._claim.acquire(blocking=False)
        if dropped:
            self._function = None
        return dropped

    def here(self) -> Any:
        """The result of a call that no other thread carries out."""
        function, self._function = self._function, None
        assert function is not None
        return function()

    def wait(self, seconds: float = -1) -> bool:
        """Waits so long (-1: for ever) for the call's end. Whether it has ended."""
        if not self._under_way.acquire(timeout=seconds):
            return False
        self._under_way.release()
        return True

    def leave(self) -> None:
        """Nobody wants the result."""
        self._wanted = False
        self._result = None

    def take(self) -> Any:
        """The result of a call that has ended, or its error; once."""
        result, error = self._result, self._error
        self._result = self._error = None
        try:
            if error is not None:
                raise error
            return result
        finally:
            del error  # which refers to this frame by its traceback


class _Worker:
    """A thread that carries calls out, one after another."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Call] = SimpleQueue()
        threading.Thread(target=self._work, name="tessera", daemon=True).start()

    def give(self, call: Call) -> None:
        self._calls.put(call)

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            call.carry_out(lambda: _idle.append(self))
            del call  # and what it keeps


_idle: list[_Worker] = []
os.register_at_fork(after_in_child=_idle.clear)  # a child has none of the threads


def _interrupt(call: Call, interrupted: list[Call], error: BaseException) -> None:
    """The exception ends the wait for a call, and says so if the call is not about to end."""
    interrupted.append(call)
    call.leave()
    if call.wait(_GRACE) or _GOES_ON in error.args:
        return
    if not error.args:
        error.args = (_GOES_ON,)
    elif hasattr(error, "add_note"):  # Python 3.11
        error.add_note(_GOES_ON)


def _begin(call: Call) -> bool:
    """Whether another thread carries the call out: none can be started otherwise."""
    try:
        worker = _idle.pop() if _idle else _Worker()
    except RuntimeError:
        return False
    worker.give(call)
    return True


def carry_out(function: Callable[[], Any], interrupted: list[Call]) -> Any:
    """Calls the function, which may take long, and returns its result. If a handler of a signal raises an
    exception, a call that has begun goes on and is added to `interrupted`; another one is dropped."""
    if _thread.get_ident() != threading.main_thread().ident:
        return function()
    call = Call(function)
    del function  # what it refers to goes with the call
    try:
        begun = _begin(call)
        while begun and not call.wait(_SLICE):
            pass
    except BaseException as error:
        if not call.drop():
            _interrupt(call, interrupted, error)
        raise
    return call.take() if begun else call.here()


def go_on(function: Callable[[], Any], interrupted: list[Call], error: BaseException) -> None:
    """Calls the function beside the program, which the error is about to leave."""
    call = Call(function)
    if _begin(call):
        _interrupt(call, interrupted, error)
    else:
        call.here()
