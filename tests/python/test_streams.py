# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Streams of CUDA without CUDA: which are tied for a call, in which order, and when a call is waited
for. A stand-in takes the place of the context."""
import threading
from types import SimpleNamespace

import pytest

from support import imported

imported("numpy")


class Devices:
    """A context with two devices, which are 3 and 5 to CUDA."""

    def __init__(self):
        self.devices, self.streams, self.tied, self.told = 2, {}, False, []
        self.tying = threading.RLock()
        self.pointer = None

    def device_number(self, device):
        return (3, 5)[device]

    def home(self, address, size):
        return SimpleNamespace(memory=3, location=address // 1000)

    def set_stream(self, device, stream):
        self.tied = True
        self.told.append((device, stream))

    def record(self):
        return "event"

    def wait(self, event):
        self.told.append(event)


def on_gpu(device, stream=None, exported=False):
    return SimpleNamespace(on_gpu=True, bytes=8, address=1000 * device, stream=stream,
                           exported=exported)


@pytest.fixture
def handle(tessera):
    return Devices()


@pytest.fixture
def streams(tessera, handle):
    from tessera._handle import Streams

    return Streams(handle)


def call(streams, handle):
    with streams.tied():
        handle.told.append("call")
    streams.after()
    return handle.told


def test_host_memory_has_no_streams(streams, handle):
    streams.add(SimpleNamespace(on_gpu=False))
    assert call(streams, handle) == ["call"]


def test_the_current_stream_of_a_library(streams, handle):
    """PyTorch's and CuPy's: the call is on it, and is not waited for."""
    assert streams.of_producer(5, 77) == 77
    streams.add(on_gpu(1, 77, exported=True))
    assert call(streams, handle) == [(1, 77), "call", (1, 0)]


def test_a_library_whose_stream_is_not_known(streams, handle):
    """JAX: it makes the legacy stream wait, and the call is waited for."""
    assert streams.of_producer(3, None) == 1
    assert call(streams, handle) == [(0, 1), "call", (0, 0), "event"]


def test_two_libraries_on_one_gpu(streams, handle):
    """The second is asked to let the first one's stream wait."""
    assert streams.of_producer(3, 7) == 7 and streams.of_producer(3, 8) == 7
    assert call(streams, handle) == [(0, 7), "call", (0, 0), "event"]


def test_two_gpus(streams, handle):
    assert streams.of_producer(3, 7) == 7 and streams.of_producer(5, 8) == 8
    assert call(streams, handle) == [(0, 7), (1, 8), "call", (0, 0), (1, 0)]


def test_a_stream_of_the_users(streams, handle):
    """Arrays come by way of it, and it is tied again behind the call, which is not waited for."""
    handle.streams[0] = 9
    assert streams.of_producer(3, 7) == 9
    assert call(streams, handle) == [(0, 9), "call", (0, 9)]


def test_a_stream_of_cuda_array_interface(streams, handle):
    streams.add(on_gpu(1, 6))
    assert call(streams, handle) == [(1, 6), "call", (1, 0), "event"]


def test_cuda_array_interface_without_a_stream(streams, handle):
    streams.add(on_gpu(1))
    assert call(streams, handle) == ["call", "event"]


def test_a_second_stream_is_waited_for(streams, handle, monkeypatch):
    from tessera import _handle

    monkeypatch.setattr(_handle, "lib", SimpleNamespace(
        TSR_OK=0, tsr_memcpy=lambda *_: handle.told.append("wait") or 0))
    streams.add(on_gpu(0, 6))
    streams.add(on_gpu(0, 8))
    assert call(streams, handle) == [(0, 8), "wait", (0, 0), (0, 6), "call", (0, 0), "event"]


def test_a_gpu_that_is_not_used(streams, tessera):
    with pytest.raises(tessera.ArgumentError, match=r"on GPU 4, .*Context\(devices=\[4\]\)"):
        streams.of_producer(4, None)


def test_a_call_beside_tied_ones_is_waited_for(streams, handle):
    """A stream that another thread has tied lets a call on host memory return early."""
    handle.tied = True
    assert call(streams, handle) == ["call", "event"]


def test_streams_are_untied_behind_a_call_that_fails(streams, handle):
    streams.of_producer(3, 7)
    with pytest.raises(ZeroDivisionError):
        with streams.tied():
            1 // 0
    assert handle.told == [(0, 7), (0, 0)]


def test_set_stream(context):
    """What users tie: a number, CuPy's and PyTorch's streams; 0 is the legacy stream."""
    context.set_stream(0, 5)
    context.set_stream(1, SimpleNamespace(ptr=0))
    assert context._handle.streams == {0: 5, 1: 1}
    context.set_stream(0, SimpleNamespace(cuda_stream=6))
    context.set_stream(1, None)
    assert context._handle.streams == {0: 6}
    context.set_stream(0, None)
    assert context._handle.streams == {}
