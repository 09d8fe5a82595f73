# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Signals while the main thread is in a call: handlers run at once, and an exception of a handler ends the wait."""
import os
import signal
import threading
import time

import pytest

from support import imported

np = imported("numpy")
pytestmark = pytest.mark.slow

LONG = 3.0  # s that a held call takes
SOON = 1.5  # s, with time for a busy computer


class Slow:
    """The library, of which one function takes long. A tenth of a second after it has begun a signal comes."""

    def __init__(self, real, name, seconds):
        self.real, self.name, self.seconds, self.ended = real, name, seconds, threading.Event()

    def __getattr__(self, name):
        found = getattr(self.real, name)
        if name != self.name:
            return found

        def slow(*arguments):
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGALRM)
            time.sleep(self.seconds)
            try:
                return found(*arguments)
            finally:
                self.ended.set()
        return slow


@pytest.fixture
def signalled():
    """The handler of the signal that a slow function sends raises, or not."""
    def send(raises):
        seen = []

        def handle(*_):
            seen.append(time.monotonic())
            if raises:
                raise KeyboardInterrupt
        before = signal.signal(signal.SIGALRM, handle)
        restore.append(before)
        return seen
    restore = []
    yield send
    for before in restore:
        signal.signal(signal.SIGALRM, before)


WAYS = {
    "a product": ("_context", "tsr_level3_run", lambda c, a, out: c.gemm(a, a, out)),
    "sync": ("_handle", "tsr_sync", lambda c, a, out: (c.submit("gemm", a, a, out), c.sync())),
    "a future": ("_handle", "tsr_sync", lambda c, a, out: c.submit("gemm", a, a, out).result()),
    "waiting for a future": ("_handle", "tsr_event_wait", lambda c, a, out: c.submit("gemm", a, a, out).wait()),
    "submit": ("_compose", "tsr_level3_run_async", lambda c, a, out: c.submit("gemm", a, a, out)),
    "a plan": ("_plan", "tsr_plan_level3", lambda c, a, out: c.plan("gemm", a, a)),
    "trim": ("_context", "tsr_trim", lambda c, a, out: c.trim()),
    "memory": ("_arrays", "tsr_malloc", lambda c, a, out: c.empty((9, 9))),
    "a copy": ("_handle", "tsr_memcpy", lambda c, a, out: c.zeros((9, 9), device=0)),
    "the machine": ("_context", "tsr_machine_print", lambda c, a, out: c.machine),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_wait_ends(tessera, context, monkeypatch, signalled, way):
    """The exception comes at once, says that the call goes on, and what it writes is complete after sync."""
    import importlib

    module = importlib.import_module("tessera." + WAYS[way][0])
    a, out = np.random.default_rng(1).random((50, 50)), np.full((50, 50), np.nan)
    slow = Slow(module.lib, WAYS[way][1], LONG)
    monkeypatch.setattr(module, "lib", slow)
    signalled(raises=True)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt, match="goes on beside the program: its arrays are kept"):
        WAYS[way][2](context, a.copy(), out)
    assert time.monotonic() - begin < SOON and not slow.ended.is_set()
    monkeypatch.setattr(module, "lib", slow.real)
    context.sync()
    assert slow.ended.is_set()
    if "gemm" in str(WAYS[way][2].__code__.co_consts) and way != "a plan":
        assert np.allclose(out, a @ a)
    # Later calls are as ever.
    assert np.allclose(context.gemm(a, a), a @ a)


def test_handlers_that_raise_nothing(tessera, context, monkeypatch, signalled):
    """They run while the call does, and the call is as it would be without."""
    from tessera import _context

    slow = Slow(_context.lib, "tsr_level3_run", 1.0)
    monkeypatch.setattr(_context, "lib", slow)
    a, begin = np.ones((20, 20)), time.monotonic()
    seen = signalled(raises=False)
    assert (context.gemm(a, a) == 20).all()
    assert len(seen) == 1 and seen[0] - begin < 0.8 and time.monotonic() - begin >= 1.0


def test_a_later_call_comes_behind(tessera, context, monkeypatch, signalled):
    """A call that was interrupted has taken effect when the next one of the context begins."""
    from tessera import _context

    slow = Slow(_context.lib, "tsr_level3_run", LONG)
    monkeypatch.setattr(_context, "lib", slow)
    signalled(raises=True)
    a, x = np.ones((20, 20)), np.zeros((20, 20))
    with pytest.raises(KeyboardInterrupt):
        context.gemm(a, a, x)
    monkeypatch.setattr(_context, "lib", slow.real)
    assert (context.gemm(x, a) == 400).all()


def test_a_signal_while_a_call_begins(tessera, monkeypatch):
    """A call that has not begun never does, and nothing waits for it; one that has begun is waited for."""
    from tessera import _waiting

    gives, began, interrupted = _waiting._Worker.give, threading.Event(), []

    def interrupt(worker, call, given):
        if given:
            gives(worker, call)
            began.wait()
        raise KeyboardInterrupt
    for given in (False, True):
        monkeypatch.setattr(_waiting._Worker, "give", lambda worker, call: interrupt(worker, call, given))
        with pytest.raises(KeyboardInterrupt):
            _waiting.carry_out(began.set, interrupted)
        assert began.is_set() == given and len(interrupted) == given


def test_an_interrupted_call_that_fails(tessera, context, monkeypatch, signalled):
    """sync tells its error."""
    from tessera import _context

    slow = Slow(_context.lib, "tsr_level3_run", LONG)
    monkeypatch.setattr(_context, "lib", slow)
    signalled(raises=True)
    with pytest.raises(KeyboardInterrupt):
        context.gemm(np.ones((2, 2)), np.ones((2, 2)), arithmetic="slow")
    monkeypatch.setattr(_context, "lib", slow.real)
    with pytest.raises(tessera.ArgumentError, match='arithmetic is "slow"'):
        context.sync()
    context.sync()


def test_other_threads_call_themselves(tessera, context):
    """Only the main thread's calls are carried out by another one."""
    from tessera import _waiting

    seen = []
    thread = threading.Thread(target=lambda: seen.append(_waiting.carry_out(threading.get_ident, [])))
    thread.start()
    thread.join()
    assert seen == [thread.ident]
    assert _waiting.carry_out(threading.get_ident, []) != threading.get_ident()
