# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What Python costs: tessera.matmul of NumPy arrays in pinned memory beside the C call on the same
memory, in turns; then arrays on GPUs of the libraries that are here (PyTorch, CuPy, JAX), and of one
that has nothing but __cuda_array_interface__ or DLPack, with the bytes that each moved from and to
the host.

It needs the package tessera (PYTHONPATH=build/python, or a wheel), NumPy and cffi.

  python3 bench/python_rate.py --n 16384 --engine cuda --devices 1
"""
import argparse
import json
import statistics
import sys
import time

import numpy as np

import tessera
from tessera._library import check, ffi, lib


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=16384, help="extents of the matrices")
    parser.add_argument("--rounds", type=int, default=9, help="calls of each kind, in turns")
    parser.add_argument("--engine", help="cuda, hip, host or cpu (default: the best that is here)")
    parser.add_argument("--devices", help="a count or a list, as TESSERA_DEVICES")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    return parser.parse_args(words)


def seconds_of(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def in_turns(rounds, *calls):
    """Medians of calls that are made in turns, after one round that does not count."""
    times = [[seconds_of(call) for call in calls] for _ in range(rounds + 1)][1:]
    return [statistics.median(column) for column in zip(*times)]


def direct(context, a, b, c):
    """The C call, with its arguments made beforehand."""
    n = a.shape[0]
    pointers = [ffi.cast("double *", x.ctypes.data) for x in (a, b, c)]

    def call():
        check(lib.tsr_dgemm(context._handle.pointer, lib.TSR_ROW_MAJOR, lib.TSR_NO_TRANS,
                            lib.TSR_NO_TRANS, n, n, n, 1.0, pointers[0], n, pointers[1], n, 0.0,
                            pointers[2], n))
    return call


def from_host(context, n, rounds):
    random = np.random.default_rng(1)
    a, b, c, d = (context.empty((n, n)) for _ in range(4))
    for x in (a, b):
        random.random(out=x)
    python, in_c = in_turns(rounds, lambda: context.matmul(a, b, c), direct(context, a, b, d))
    new = in_turns(max(1, rounds // 3), lambda: context.matmul(a, b))[0]
    return {"what": "NumPy arrays, pinned", "n": n, "python_s": python, "c_s": in_c,
            "ratio": in_c / python, "tflops": 2 * n**3 / python / 1e12, "new_result_s": new,
            "same": bool((c == d).all())}


# ---- Arrays on GPUs ----


class ByInterface:
    """Memory of the library's on a GPU, as a library shows it that has __cuda_array_interface__."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class ByDlpack:
    """The same of a library that has DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)


def torch_arrays(context, values):
    import torch
    if not torch.cuda.is_available():
        raise ImportError("PyTorch has no GPU here")
    return [torch.from_numpy(x).cuda() for x in values], lambda x: x.cpu().numpy(), torch.cuda.synchronize


def cupy_arrays(context, values):
    import cupy
    return [cupy.asarray(x) for x in values], lambda x: x.get(), cupy.cuda.Device().synchronize


def jax_arrays(context, values):
    import jax
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        raise ImportError("JAX has no GPU here")
    return [jax.device_put(x) for x in values], np.asarray, lambda: None


def own_arrays(kind):
    def arrays(context, values):
        made = [context.empty(x.shape, device=0).set(x) for x in values]
        made[0].__dlpack__() if kind is ByDlpack else made[0].__cuda_array_interface__
        return [kind(x) for x in made], lambda x: x.get(), context.sync
    return arrays


LIBRARIES = {"PyTorch": torch_arrays, "CuPy": cupy_arrays, "JAX": jax_arrays,
             "__cuda_array_interface__": own_arrays(ByInterface), "DLPack": own_arrays(ByDlpack)}


def on_gpu(context, name, n, rounds):
    """The product of a library's arrays: its time, whether it is right, and the bytes from
    and to the host."""
    random = np.random.default_rng(2)
    small = [random.random((n, n)) - 0.5 for _ in range(2)]
    (a, b), to_numpy, settle = LIBRARIES[name](context, small)
    settle()
    before = context.traffic
    c = context.matmul(a, b)
    settle()
    after = context.traffic
    rows = slice(0, 64)
    wanted = small[0][rows] @ small[1]
    error = np.abs(to_numpy(c)[rows] - wanted).max()

    def both():
        context.matmul(a, b)
        settle()

    median = in_turns(rounds, both)[0]
    return {"what": name, "n": n, "result": type(c).__module__ + "." + type(c).__name__,
            "python_s": median, "tflops": 2 * n**3 / median / 1e12,
            "from_and_to_host": sum(getattr(after, way) - getattr(before, way)
                                    for way in ("host_to_device", "device_to_host")),
            "right": bool(error < 1e-10 * n)}


def queued(context, n):
    """PyTorch's operations around ours on one stream, without a wait between them: right only if
    each waits for the one before it."""
    import torch
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a = torch.rand(n, n, dtype=torch.float64, device="cuda")
        for _ in range(4):
            b = a * 2 - 1
            c = context.matmul(b, b)
            d = c + b
            b.zero_()
    stream.synchronize()
    wanted = (a * 2 - 1) @ (a * 2 - 1) + (a * 2 - 1)
    return {"what": "PyTorch's stream around ours", "n": n,
            "right": bool(torch.allclose(d, wanted, atol=1e-9 * n))}


def main(words):
    args = parse(words)
    context = tessera.Context(engine=args.engine, devices=args.devices)
    rows = [from_host(context, args.n, args.rounds)]
    for name in LIBRARIES:
        try:
            rows.append(on_gpu(context, name, args.n, args.rounds))
            if name == "PyTorch":
                rows.append(queued(context, min(args.n, 4096)))
        except (ImportError, AttributeError, tessera.UnsupportedError, tessera.ArgumentError) as missing:
            rows.append({"what": name, "missing": str(missing)})
    for row in rows:
        print(json.dumps(row) if args.json else
              "  ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                        for key, value in row.items()))
    wrong = [row["what"] for row in rows
             if not row.get("right", True) or not row.get("same", True) or row.get("from_and_to_host", 0)]
    if wrong:
        sys.exit(f"wrong, or copied by way of the host: {', '.join(wrong)}")


if __name__ == "__main__":
    main(sys.argv[1:])
