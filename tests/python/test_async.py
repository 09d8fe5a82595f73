# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Futures, compositions and captures, against NumPy; threads."""
import asyncio
import gc
import sys
import threading
import time

import pytest

from support import BUILD, imported, run

np = imported("numpy")


def some(m, n, seed=1):
    return np.random.default_rng(seed).random((m, n))


def lower(n, seed=9):
    return np.tril(some(n, n, seed)) + n * np.eye(n)


@pytest.fixture
def on_devices(tessera):
    machine = "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19"
    with tessera.Context(engine="host", machine=machine, check=True) as made:
        yield made


@pytest.fixture(params=["on devices", "by the CPU"])
def context(request, tessera):
    if request.param == "on devices":
        yield request.getfixturevalue("on_devices")
    else:
        with tessera.Context(engine="cpu") as made:
            yield made


# ---- Futures ----


def test_futures(context):
    a, b = some(70, 50), some(50, 60, 2)
    futures = [context.submit("gemm", a, b, alpha=i) for i in range(6)]
    for i, future in enumerate(futures):
        assert np.allclose(future.result(), i * (a @ b))
        assert future.done() and future.result() is future.result()
    assert "complete" in repr(futures[0])


class Immutable:
    """An array of a library that makes arrays by DLPack alone, slowly."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **_):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __array_namespace__(self):
        return self

    def from_dlpack(self, array):
        time.sleep(0.05)
        return Immutable(array)


def test_threads_get_the_same_result(context):
    if not hasattr(np, "from_dlpack"):
        pytest.skip("NumPy has no DLPack")
    a, results = some(30, 30), []
    future = context.submit("gemm", Immutable(a), Immutable(a))
    threads = [threading.Thread(target=lambda: results.append(future.result())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(result is future.result() for result in results)
    assert np.allclose(results[0].values, a @ a)


def test_a_future_waits_for_its_own_call(context):
    a = some(60, 60)
    future = context.submit("matmul", a, a)
    future.wait()
    assert future.done()
    assert np.allclose(future.result(), a @ a)


def test_futures_take_effect_in_order(context):
    a, x = some(40, 40), np.zeros((40, 40))
    for _ in range(5):
        context.submit("gemm", a, a, x, beta=1)
    context.sync()
    assert np.allclose(x, 5 * (a @ a))


def test_inputs_may_change_after_the_result(context):
    """Nothing of them stays on the devices."""
    a, b = some(40, 40), some(40, 40, 2)
    for seed in range(4):
        a[...] = some(40, 40, seed)
        assert np.allclose(context.submit("gemm", a, b).result(), a @ b)


def test_memory_that_is_used_again(context):
    """Arrays that come and go at the same addresses."""
    for seed in range(20):
        a = some(50, 50, seed)
        future = context.submit("gemm", a, a)
        wanted = a @ a
        del a
        gc.collect()
        np.full((50, 50), np.nan)
        assert np.allclose(future.result(), wanted)


def test_futures_that_nobody_keeps(context):
    out = np.zeros((80, 80))
    wanted = 0
    for seed in range(10):
        a = some(80, 80, seed)
        wanted = wanted + a @ a
        context.submit("gemm", a, a, out, beta=1)
    context.sync()
    assert np.allclose(out, wanted)


def test_triangles_and_other_routines(context):
    a, l = some(30, 20), lower(30)
    out = np.full((30, 30), 7.0, order="F")
    context.submit("syrk", a, out, beta=0, uplo="upper").result()
    assert np.allclose(np.triu(out), np.triu(a @ a.T)) and (np.tril(out, -1) == np.tril(out * 0 + 7, -1)).all()
    assert np.allclose(context.submit("trsm", l, a).result(), np.linalg.solve(l, a))


def test_await(context):
    a = some(30, 30)

    async def both():
        return await asyncio.gather(wrapped(1), wrapped(2))

    async def wrapped(alpha):
        return await context.submit("gemm", a, a, alpha=alpha)

    one, two = asyncio.run(both())
    assert np.allclose(one, a @ a) and np.allclose(two, 2 * one)


def test_a_refused_future(context, tessera):
    with pytest.raises(tessera.ArgumentError, match="a has 3 columns"):
        context.submit("gemm", np.ones((2, 3)), np.ones((2, 3)))


def test_errors_reach_all_futures(on_devices, tessera):
    """A device that fails loses what all calls have there; each future says so."""
    from tessera import _handle

    a = some(30, 30)
    futures = [on_devices.submit("gemm", a, a) for _ in range(3)]
    handle = on_devices._handle

    class Failing:
        """The library, whose tsr_sync fails once."""

        def __getattr__(self, name):
            return getattr(real, name)

        def tsr_sync(self, pointer):
            real.tsr_sync(pointer)
            return real.tsr_level3_run(pointer, *[_handle.ffi.NULL] * 6) and real.TSR_ERR_DEVICE

    real, _handle.lib = _handle.lib, Failing()
    try:
        with pytest.raises(tessera.DeviceError):
            futures[0].result()
    finally:
        _handle.lib = real
    for future in futures:
        with pytest.raises(tessera.DeviceError):
            future.result()
    assert not list(handle.waiting)
    assert np.allclose(on_devices.submit("gemm", a, a).result(), a @ a)


DROPPED = {
    "temporaries": "for _ in range(30): tessera.submit('gemm', a.copy(), a.copy())",
    "the result is a temporary": "for _ in range(30): tessera.submit('gemm', a, a)",
    "the inputs are temporaries": """
for _ in range(30): tessera.submit('gemm', a.copy(), a.copy(), out)
tessera.sync()
assert (out == 300).all()""",
    "one, at the end of Python": "tessera.submit('gemm', a.copy(), a.copy())",
    "a context of its own": """
with tessera.Context() as context:
    for _ in range(30): context.submit('syrk', a.copy())""",
    "a context that is dropped": "for _ in range(30): tessera.Context().submit('gemm', a.copy(), a.copy())",
    "a composition": """
for _ in range(10):
    with tessera.composed() as t:
        for _ in range(5): t.gemm(t.gemm(a.copy(), a.copy()), a.copy())""",
    "a composition that an exception leaves": """
for _ in range(10):
    try:
        with tessera.composed() as t:
            for _ in range(5): t.gemm(t.gemm(a.copy(), a.copy()), a.copy())
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass""",
    "a map that moves": """
with tessera.composed() as t:
    for _ in range(30): t.map(a.copy(), 100, move=True)""",
    "a thread that goes on": """
import threading
def work():
    while True: tessera.submit('gemm', a.copy(), a.copy())
threading.Thread(target=work, daemon=True).start()
for _ in range(20): tessera.submit('gemm', a.copy(), a.copy())""",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", DROPPED)
def test_nobody_keeps_the_arrays(tessera, what):
    """Memory that is let go under the devices is found by the C library, which overwrites it (MALLOC_PERTURB_)."""
    begin = "import numpy as np, tessera\na, out = np.ones((300, 300)), np.zeros((300, 300))\n"
    run([sys.executable, "-c", begin + DROPPED[what]],
        env={"PYTHONPATH": str(BUILD / "python"), "TESSERA_ENGINE": "host", "TESSERA_DEVICES": "2",
             "MALLOC_PERTURB_": "165", "MALLOC_MMAP_THRESHOLD_": "1000"}).ok().quiet()


def test_arrays_are_let_go_when_the_call_is_complete(context):
    a = some(40, 40)
    for _ in range(20):
        context.submit("gemm", a.copy(), a.copy())
    context.sync()
    assert not context._handle.under_way


# ---- Compositions ----


def test_composition(context):
    l, b = lower(60), some(60, 40)
    x_wanted = np.linalg.solve(l, b)
    with context.composed() as t:
        x = t.trsm(l, b)
        c = t.gemm(x, x.T)
        assert x.shape == (60, 40) and c.shape == (60, 60) and c.dtype == "f8" and len(c) == 60
        assert "60 x 60" in repr(c)
    assert np.allclose(x, x_wanted) and np.allclose(c.array, x_wanted @ x_wanted.T)


def test_results_are_read_within(context):
    a = some(30, 30)
    with context.composed() as t:
        x = t.gemm(a, a)
        assert np.allclose(x[3], (a @ a)[3])
        assert np.allclose(x + 1, a @ a + 1) and np.allclose(1 - x.T, 1 - (a @ a).T)
        assert np.allclose(x @ a, a @ a @ a)
        y = t.gemm(x, a)
        z = t.symm(np.eye(30), y, c=x, beta=2)
    assert np.allclose(y, a @ a @ a) and np.allclose(z, a @ a @ a + 2 * (a @ a))
    assert np.allclose(x, a @ a)


def test_composition_moves_less(on_devices):
    a = some(200, 200)

    def sent(work):
        before = on_devices.traffic
        work()
        after = on_devices.traffic
        return after.host_to_device - before.host_to_device

    def composed():
        with on_devices.composed() as t:
            x = t.gemm(a, a)
            for _ in range(4):
                x = t.gemm(x, a)

    def apart():
        x = on_devices.gemm(a, a)
        for _ in range(4):
            x = on_devices.gemm(x, a)

    assert sent(composed) < sent(apart) / 2


def test_in_place_in_a_composition(context):
    l, x = lower(50), some(50, 30)
    was = x.copy()
    with context.composed() as t:
        t.trsm(l, x, x)
        t.trmm(l, x, x)
        y = t.gemm(l, x)
    assert np.allclose(x, was) and np.allclose(y, l @ was)


def test_arrays_may_change_after_the_end(context):
    a = some(40, 40)
    for seed in range(3):
        a[...] = some(40, 40, seed)
        with context.composed() as t:
            x = t.gemm(a, a)
        assert np.allclose(x, a @ a)
        assert np.allclose(context.submit("gemm", a, a).result(), a @ a)


def test_changed(on_devices, tessera):
    a = some(40, 40)
    with on_devices.composed() as t:
        t.gemm(a, a)
        a[...] = 2 * a
        t.changed(a)
        x = t.gemm(a, a)
    assert np.allclose(x, a @ a)
    # Checking mode finds a change that was not announced.
    with pytest.raises(tessera.CheckError, match="tsr_invalidate"):
        with on_devices.composed() as t:
            t.gemm(a, a)
            a[...] = 2 * a
            t.gemm(a, a)


def test_discard(on_devices):
    a = some(100, 100)
    before = on_devices.traffic.device_to_host
    with on_devices.composed() as t:
        x = t.gemm(a, a)
        y = t.gemm(x, a)
        t.discard(x)
    assert np.allclose(y, a @ a @ a)
    assert on_devices.traffic.device_to_host - before == 8 * 100 * 100


def test_all_results_come_home(on_devices):
    """Waiting alone leaves results on the devices."""
    a, one, two = some(100, 100), np.zeros((100, 100)), np.zeros((100, 100))
    with on_devices.composed() as t:
        t.gemm(a, a, one)
        t.gemm(one, a, two)
        on_devices.sync()
        assert (one == 0).all() and (two == 0).all()
        t.sync_home()
        assert np.allclose(one, a @ a) and np.allclose(two, a @ a @ a)
        before = on_devices.traffic
        t.gemm(two, a, one)
        assert on_devices.traffic.host_to_device == before.host_to_device
        on_devices.sync_home()
        assert np.allclose(one, a @ a @ a @ a)
        moved = on_devices.traffic.device_to_host
    assert on_devices.traffic.device_to_host == moved


def test_a_blocking_call_beside_a_composition(context):
    a, x = some(50, 50), np.zeros((50, 50))
    with context.composed() as t:
        t.gemm(a, a, x)
        assert np.allclose(context.matmul(x, a), a @ a @ a)
        assert np.allclose(context.submit("gemm", x, a).result(), a @ a @ a)
        y = t.gemm(x, a)
    assert np.allclose(x, a @ a) and np.allclose(y, a @ a @ a)


def test_results_of_another_composition(context):
    a = some(30, 30)
    with context.composed() as s, context.composed() as t:
        x = s.gemm(a, a)
        y = t.gemm(x, a)
        assert np.allclose(context.gemm(y, a), a @ a @ a @ a)
    assert np.allclose(y, a @ a @ a)


def test_a_program_that_fails_within(context, tessera):
    a = some(30, 30)
    with pytest.raises(ZeroDivisionError):
        with context.composed() as t:
            t.gemm(a, a)
            1 // 0
    with pytest.raises(tessera.ArgumentError, match="the composition has ended"):
        t.gemm(a, a)
    assert np.allclose(context.submit("gemm", a, a).result(), a @ a)


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_results_behind_an_exception(context, kind):
    """They are right, whether they were read or not, and whatever memory they have."""
    a = some(200, 200)
    for _ in range(3):
        out, seen = np.full((200, 200), np.nan), []
        with pytest.raises(kind):
            with context.composed() as t:
                seen += [t.gemm(a, a), t.gemm(a, a, out), t.syrk(a)]
                seen.append(t.gemm(seen[0], a))
                raise kind
        assert np.allclose(seen[3], a @ a @ a) and np.allclose(seen[0], a @ a)
        assert np.allclose(seen[1], a @ a) and np.allclose(seen[2], np.tril(a @ a.T))
        assert np.allclose(out, a @ a)


def test_results_that_are_lost(on_devices, tessera, monkeypatch):
    """When a call fails, all that was on the devices is lost: what would be read as it was left in memory
    is an error, whoever was told of the failure."""
    from tessera import _handle

    real = _handle.lib

    class Failing:
        def __getattr__(self, name):
            return getattr(real, name)

        def tsr_sync(self, pointer):
            real.tsr_sync(pointer)
            return real.tsr_level3_run(pointer, *[_handle.ffi.NULL] * 6) and real.TSR_ERR_DEVICE

    a = some(30, 30)
    with on_devices.composed() as t:
        x, y = t.gemm(a, a), t.gemm(a, a)
        y.array  # is home
        monkeypatch.setattr(_handle, "lib", Failing())
        with pytest.raises(tessera.DeviceError):
            on_devices.sync()
        monkeypatch.setattr(_handle, "lib", real)
        for read in (lambda: x.array, lambda: x + 1, lambda: x.T[0], lambda: np.asarray(x), lambda: t.gemm(x, a),
                     lambda: on_devices.gemm(x, a)):
            with pytest.raises(tessera.DeviceError, match="the result is lost"):
                read()
        assert np.allclose(y, a @ a)
        z = t.gemm(a, y)
    assert np.allclose(z, a @ a @ a)
    with pytest.raises(tessera.DeviceError, match="the result is lost"):
        x.array


def test_a_result_that_was_discarded(on_devices, tessera):
    a = some(30, 30)
    with on_devices.composed() as t:
        x, y = t.gemm(a, a), t.gemm(a, a)
        t.discard(x)
        t.discard(y)
        assert np.allclose(y, a @ a)  # is on the devices still
    assert np.allclose(y, a @ a)
    with pytest.raises(tessera.ArgumentError, match="was discarded"):
        x.array


def test_triangles_in_both_orders(on_devices):
    """Both triangles of one result, by two calls."""
    a = some(40, 20)
    out = np.full((40, 40), np.nan)
    with on_devices.composed() as t:
        t.syrk(a, out, uplo="lower", beta=0)
        t.syrk(a, out, uplo="upper", beta=0)
    assert np.allclose(out, a @ a.T)


@pytest.mark.parametrize("order", ["C", "F"])
def test_maps(on_devices, tessera, order):
    a = some(120, 120)
    c = np.zeros((120, 120), order=order)
    with on_devices.composed() as t:
        t.map(c, 30)
        t.gemm(a, a, c)
        t.map(c, (40, 60), (1, 2), move=True)
        t.gemm(a, a, c, beta=1)
        with pytest.raises(tessera.ArgumentError, match="p x q"):
            t.map(c, (40, 60), (2, 2))
        with pytest.raises(tessera.ArgumentError, match="give one extent without a grid"):
            t.map(c, (40, 60))
    assert np.allclose(c, 2 * (a @ a))


# ---- Captures ----


def test_capture(context, tessera):
    a, b, c = some(40, 40), some(40, 30, 2), np.zeros((40, 30))
    with context.composed() as t:
        with t.capture() as steps:
            x = t.gemm(a, b)
            t.gemm(a, x, c, beta=1)
        for _ in range(3):
            steps.run()
        assert "gemm" in str(steps) or context.engine == "cpu"
        other = np.asfortranarray(some(40, 40, 5))
        with pytest.raises(tessera.ArgumentError, match="give float64"):
            steps.move(a, other)
        moved = some(40, 40, 5)
        steps.move(a, moved)
        steps.run()
    wanted = 4 * (a @ a @ b) + moved @ moved @ b
    assert np.allclose(c, wanted)
    with pytest.raises(tessera.ArgumentError, match="between the end of its"):
        steps.run()


# ---- Threads ----


def test_threads_share_a_context(context):
    failures = []

    def work(seed):
        a = some(40 + seed, 50, seed)
        for alpha in range(1, 6):
            if not np.allclose(context.matmul(a, a.T, alpha=alpha), alpha * (a @ a.T)):
                failures.append(seed)
            if not np.allclose(context.submit("syrk", a).result(), np.tril(a @ a.T)):
                failures.append(-seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_gil_is_released(tessera, monkeypatch):
    """While one thread waits for a call that is held up, others run. They get no turn otherwise: the interval
    between switches is long. A call that was over before the other thread had a core is made again."""
    from tessera import _context

    real, seen, within = _context.lib, [], []

    class Watched:
        """The library; how often the other thread ran while the product was computed."""

        def __getattr__(self, name):
            return getattr(real, name)

        def tsr_level3_run(self, *arguments):
            before = len(seen)
            status = real.tsr_level3_run(*arguments)
            within.append(len(seen) - before)
            return status

    monkeypatch.setattr(_context, "lib", Watched())
    beat, interval = threading.Event(), sys.getswitchinterval()

    def other():
        while not beat.is_set():
            seen.append(1)
            time.sleep(1e-4)

    with tessera.Context(engine="host", devices=1) as context:
        a = some(700, 700)
        thread = threading.Thread(target=other)
        sys.setswitchinterval(600)
        thread.start()
        try:
            for _ in range(200):
                context.matmul(a, a)
                if within[-1] > 0:
                    break
        finally:
            beat.set()
            sys.setswitchinterval(interval)
            thread.join()
    assert within[-1] > 0
