# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Memory of the library's, and arrays of other libraries: no copy is made, and nothing is freed early."""
import gc
import os
import weakref

import pytest

from support import imported

np = imported("numpy")


def some(m, n, seed=1, dtype="f8"):
    return np.random.default_rng(seed).random((m, n)).astype(dtype)


# ---- Pinned memory ----




@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i4", "u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_empty_and_zeros(context, dtype, order):
    x = context.empty((5, 7), dtype, order)
    assert isinstance(x, np.ndarray) and x.shape == (5, 7) and x.dtype == dtype
    assert x.flags.c_contiguous == (order == "C") and x.flags.writeable and x.flags.aligned
    x[...] = 3
    assert (context.zeros((5, 7), dtype, order) == 0).all() and (x == 3).all()


def test_empty_of_other_shapes(context):
    assert context.empty(9).shape == (9,)
    assert context.empty((2, 3, 4), "c8").shape == (2, 3, 4)
    for shape in ((0, 5), (5, 0), 0):
        assert context.empty(shape).size == 0
    assert context.empty(np.int64(9)).shape == (9,)


@pytest.mark.parametrize("shape", [(2**32, 2**32), (2**31, 2**32), (2**40, 2**40)])
def test_shapes_beyond_memory(context, tessera, shape):
    """Also where the number of bytes is a multiple of 2**64."""
    for device in (None, 0):
        with pytest.raises(tessera.OutOfMemoryError):
            context.empty(shape, device=device)


def test_pinned_memory_is_known_as_such(context, tessera):
    from tessera._library import lib

    def memory_of(array):
        return context._handle.home(array.ctypes.data, array.nbytes).memory

    x = context.empty((30, 40))
    assert memory_of(x) == lib.TSR_PINNED
    assert memory_of(x[3:, 5:].T[1:2]) == lib.TSR_PINNED
    y = np.ones((600, 500))
    assert memory_of(y) == lib.TSR_PAGEABLE
    with context.pinned(y) as same:
        assert same is y and memory_of(y) == lib.TSR_PINNED
        assert np.allclose(context.matmul(y, y.T), 500)
    assert memory_of(y) == lib.TSR_PAGEABLE
    with pytest.raises(tessera.ArgumentError, match="contiguous"):
        with context.pinned(y[:, ::2]):
            pass


def test_memory_lives_as_long_as_its_arrays(tessera):
    context = tessera.Context(engine="host", devices=1)
    handle = weakref.ref(context._handle)
    x = context.empty((100, 100))
    x[...] = 1
    part = x[10:20].T
    context.close()
    del x, context
    gc.collect()
    assert handle() is not None and (part == 1).all()
    del part
    gc.collect()
    assert handle() is None


@pytest.mark.parametrize("device", [None, 0])
def test_memory_is_given_back(context, device):
    from tessera._library import lib

    x = context.empty((300, 300), device=device)
    part = x.T
    address = x.ctypes.data if device is None else x._tessera_matrix("x").address
    known = lib.TSR_PINNED if device is None else lib.TSR_DEVICE
    del x
    gc.collect()
    assert context._handle.home(address, 8).memory == known
    del part
    gc.collect()
    assert context._handle.home(address, 8).memory == lib.TSR_PAGEABLE


def test_contexts_go(tessera):
    """Contexts that nobody closes are destroyed, also with calls under way."""
    a = some(50, 50)
    handles = []
    for _ in range(5):
        context = tessera.Context(engine="host", devices=2)
        context.submit("gemm", a, a)
        context.empty((4, 4))
        handles.append(weakref.ref(context._handle))
        del context
    gc.collect()
    assert [handle() for handle in handles] == [None] * 5


# ---- Arrays on devices ----


def test_device_arrays(context):
    a, b = some(40, 30), some(30, 20, 2)
    x, y = context.empty((40, 30), device=0).set(a), context.empty((30, 20), device=1).set(b)
    assert (x.get() == a).all() and x.device == 0 and y.device == 1
    assert x.shape == (40, 30) and x.dtype == "f8" and x.nbytes == a.nbytes and x.ndim == 2
    z = context.matmul(x, y)
    assert type(z) is type(x) and z.device == 0 and np.allclose(z.get(), a @ b)
    assert np.allclose(context.matmul(y.T, x.T).get(), (a @ b).T)
    assert np.allclose(x.T.get(), a.T)
    assert (context.zeros((3, 3), "c8", device=1).get() == 0).all()
    assert "40 x 30 float64" in repr(x)


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_on_devices(context, order):
    a = some(13, 9)
    x = context.empty((13, 9), order=order, device=0).set(a)
    assert (x.get() == a).all() and (x.T.get() == a.T).all()
    assert np.allclose(context.syrk(x).get(), np.tril(a @ a.T))
    tri = np.tril(some(13, 13, 2)) + 13 * np.eye(13)
    solved = context.trsm(context.empty((13, 13), device=0).set(tri), x)
    assert np.allclose(solved.get(), np.linalg.solve(tri, a)) and (x.get() == a).all()


def test_nothing_moves_that_is_on_the_device(context):
    a = some(64, 64)
    x, y = (context.empty((64, 64), device=0).set(a) for _ in range(2))
    before = context.traffic
    z = context.matmul(x, y)
    after = context.traffic
    assert np.allclose(z.get(), a @ a)
    assert (after.host_to_device, after.device_to_host) == (before.host_to_device,
                                                            before.device_to_host)
    assert after.plans == before.plans + 1


def test_shapes_of_device_arrays(context, tessera):
    x = context.empty((3, 4), device=0)
    with pytest.raises(tessera.ArgumentError, match=r"values has the shape \(4, 3\); give \(3, 4\)"):
        x.set(np.ones((4, 3)))
    empty = context.empty((0, 4), device=0).set(np.ones((0, 4)))
    assert empty.get().shape == (0, 4)
    assert context.matmul(empty, context.empty((4, 2), device=0)).shape == (0, 2)


# ---- Other libraries ----


class OnGpu:
    """A stand-in for another library's array: memory of an emulated device behind
    __cuda_array_interface__."""

    def __init__(self, array, **more):
        self.array = array
        matrix = array._tessera_matrix("x")
        size = array.dtype.itemsize
        self.__cuda_array_interface__ = {
            "version": 3, "shape": array.shape, "typestr": array.dtype.str,
            "data": (matrix.address, False),
            "strides": (matrix.row_stride * size, matrix.column_stride * size), **more}


@pytest.mark.parametrize("stream", [None, 1, 2])
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_cuda_array_interface(context, dtype, stream):
    a, b = some(33, 20, 1, dtype), some(20, 15, 2, dtype)
    x = OnGpu(context.empty(a.shape, dtype, device=0).set(a), stream=stream)
    y = OnGpu(context.empty(b.shape, dtype, "F", device=0).set(b), strides=(dtype == "f4" and 4 or 16,
                                                                      20 * (4 if dtype == "f4" else 16)))
    before = context.traffic
    z = context.matmul(x, y)
    after = context.traffic
    assert after.host_to_device == before.host_to_device
    assert np.allclose(z.get(), a @ b)
    out = OnGpu(context.zeros((33, 15), dtype, device=1), stream=stream)
    assert context.matmul(x, y, out) is out
    assert np.allclose(out.array.get(), a @ b)


def test_cuda_array_interface_refused(context, tessera):
    x = context.empty((4, 4), device=0)
    with pytest.raises(tessera.ArgumentError, match="out cannot be written"):
        address = x._tessera_matrix("x").address
        context.matmul(x, x, OnGpu(context.empty((4, 4), device=0), data=(address, True)))
    with pytest.raises(tessera.ArgumentError, match="a has a mask"):
        context.matmul(OnGpu(x, mask=x), x)
    with pytest.raises(tessera.ArgumentError, match="a has 3 dimensions"):
        context.matmul(OnGpu(x, shape=(4, 4, 1)), x)
    with pytest.raises(tessera.ArgumentError, match="a is on a device and would have to be copied"):
        context.matmul(OnGpu(x, strides=(64, 16), shape=(4, 2)), context.empty((2, 4), device=0))


class ByDlpack:
    """A stand-in for a library that has DLPack and nothing else, over NumPy's."""

    def __init__(self, array, old=False):
        self.array, self.old, self.asked = array, old, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        if self.old and arguments:
            raise TypeError("unexpected keyword")
        self.asked.append(arguments)
        known = hasattr(np, "from_dlpack") and np.lib.NumpyVersion(np.__version__) >= "2.1.0"
        return self.array.__dlpack__(**(arguments if known else {}))


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_dlpack(context, dtype, old):
    a, b = some(12, 7, 1, dtype), some(12, 9, 2, dtype)
    x, y = ByDlpack(a.T, old), ByDlpack(b, old)
    assert np.allclose(context.matmul(x, y), a.T @ b)
    out = ByDlpack(np.zeros((7, 9), dtype), old)
    assert context.matmul(x, y, out) is out and np.allclose(out.array, a.T @ b)
    assert "stream" not in {key for asked in x.asked for key in asked}  # of memory of the host


class Elsewhere(ByDlpack):
    """A unit matrix that says it is on a device of that kind."""

    def __init__(self, kind):
        super().__init__(np.eye(3))
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 0


def test_dlpack_refused(context, tessera):
    with pytest.raises(tessera.ArgumentError, match="kind 7; give an array in host memory or on an"):
        context.matmul(Elsewhere(7), np.eye(3))  # Vulkan
    for kind, engine in ((10, "hip"), (2, "cuda"), (13, "cuda")):
        with pytest.raises(tessera.ArgumentError, match=f"on a GPU of the engine {engine}, and the context's engine"):
            context.matmul(Elsewhere(kind), np.eye(3))
    for pinned in (3, 11):  # by CUDA, by ROCm
        assert np.array_equal(context.matmul(Elsewhere(pinned), np.eye(3)), np.eye(3))
    with pytest.raises(tessera.ArgumentError, match="a has the type DLPack's code 0 with 32 bits"):
        context.matmul(ByDlpack(np.eye(3, dtype="i4")), np.eye(3))
    with pytest.raises(tessera.ArgumentError, match="b has 1 dimensions"):
        context.matmul(np.eye(3), ByDlpack(np.ones(3)))


def test_capsules_are_given_back(context):
    """Of what DLPack lends nothing is kept: the producer's array goes when it is used no more."""
    x = np.ones((50, 50))
    gone = weakref.ref(x)
    context.matmul(ByDlpack(x), ByDlpack(x))
    del x
    gc.collect()
    assert gone() is None


def test_numpy_takes_device_arrays(context):
    """The memory of emulated devices is the host's, so NumPy takes it, without a copy."""
    if not hasattr(np, "from_dlpack"):
        pytest.skip("NumPy has no from_dlpack")
    a = some(6, 4)
    x = context.empty((6, 4), order="F", device=0).set(a)
    seen = np.from_dlpack(x)
    assert (seen == a).all() and seen.ctypes.data == x._tessera_matrix("x").address
    assert (np.from_dlpack(x.T) == a.T).all()
    block = weakref.ref(x._block)
    del x
    gc.collect()
    assert block() is not None and (seen == a).all()
    del seen
    gc.collect()
    assert block() is None
    capsule = context.empty((2, 2), device=0).__dlpack__()
    del capsule  # which nobody took


def test_capsules_that_cannot_be(context):
    x = context.empty((2, 2), device=0)
    with pytest.raises(BufferError, match="stays on its device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="without a copy"):
        x.__dlpack__(copy=True)
    with pytest.raises(AttributeError):
        x.__cuda_array_interface__


class Immutable(ByDlpack):
    """As JAX's arrays: new ones are made by from_dlpack."""

    def __array_namespace__(self):
        class Namespace:
            @staticmethod
            def from_dlpack(array):
                return Immutable(np.from_dlpack(array))
        return Namespace


def test_results_are_of_the_inputs_library(context):
    a = some(5, 6)
    got = context.matmul(Immutable(a), Immutable(a.T.copy()))
    assert type(got) is Immutable and np.allclose(got.array, a @ a.T)
    future = context.submit("gemm", Immutable(a), Immutable(a.T.copy()))
    assert type(future.result()) is Immutable and np.allclose(future.result().array, a @ a.T)


def test_pytorch(context, tessera):
    torch = pytest.importorskip("torch")
    a, b = torch.rand(9, 5, dtype=torch.complex128), torch.rand(5, 4, dtype=torch.complex128)
    got = context.matmul(a, b)
    assert isinstance(got, torch.Tensor) and torch.allclose(got, a @ b)
    assert torch.allclose(context.matmul(a.mH, a), a.mH @ a)
    assert torch.allclose(context.matmul(b.T, a.T), (a @ b).T)
    half = torch.rand(8, 8).bfloat16()
    assert torch.allclose(context.matmul(half, half).float(), (half @ half).float(), rtol=0.02)
    with pytest.raises(Exception, match="requires_grad|gradient"):
        context.matmul(a.requires_grad_(), b)


# ---- Processes ----


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_a_context_of_its_own(tessera):
    a = some(20, 20)
    with tessera.Context(engine="host", devices=2) as context:
        pinned = context.empty((20, 20))
        pinned[...] = a
        context.submit("gemm", a, a).result()
        tessera.set_default_context(context)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with pytest.raises(tessera.ArgumentError, match="forked"):
                    context.matmul(a, a)
                assert (pinned == a).all()
                del pinned  # which must not wait for the parent's threads
                os.environ["TESSERA_ENGINE"] = "host"
                assert tessera.default_context() is not context
                assert np.allclose(tessera.matmul(a, a), a @ a)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert np.allclose(context.matmul(pinned, pinned), a @ a)
    tessera.set_default_context(None)
