# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Plans: what a call will do and how long it is predicted to take, without data."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Sequence

from . import _layout
from ._arguments import check_device, device_of, file_of
from ._handle import Handle, Streams
from ._layout import TRIANGULAR, WITH_B, Call
from ._library import ArgumentError, check, ffi, lib, owned, take_text
from ._matrix import Matrix, dense_strides, letter_of, matrix_of
from ._prepare import _check_like, _letter, c_arithmetic, level3, scalars
from ._routines import Request, Routines


@dataclass(frozen=True)
class Busy:
    """A thing that a plan uses: what, of which kind ("channel", "link", "memory" of a GPU, "kernels",
    "latency" or "cpu"), and the share of the predicted time in which it is busy."""

    what: str
    kind: str
    busy: float


@dataclass(frozen=True)
class Instead:
    """A choice that would be faster: what, how long it would take [s], how fast that is [flop/s]."""

    what: str
    seconds: float
    rate: float


def _busy(told: dict[str, Any]) -> Busy:
    return Busy(told["what"], told["kind"], told["busy"])


class Plan:
    """How a call will be done. Shows itself as its verdict and, in a notebook, as its timeline."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = owned(pointer, lib.tsr_plan_destroy)

    def _print(self, form: int) -> str:
        printed = ffi.new("char **")
        check(lib.tsr_plan_print(self._pointer, form, printed))
        return take_text(printed)

    @cached_property
    def json(self) -> dict[str, Any]:
        """Everything of the plan, for programs. Alternatives are planned for it, which takes half a
        second at most."""
        found: dict[str, Any] = json.loads(self._print(lib.TSR_JSON))
        return found

    @cached_property
    def _alone(self) -> dict[str, Any]:
        """The verdict, perhaps without alternatives."""
        found: dict[str, Any] = json.loads(self._print(lib.TSR_JSON_ALONE))["verdict"]
        return found

    @property
    def verdict(self) -> str:
        """What binds the call, why it uses so many devices, and what would be faster."""
        return str(self.json["verdict"]["text"])

    @property
    def seconds(self) -> float:
        """The predicted time [s]."""
        return float(self._alone["seconds"])

    @property
    def measured(self) -> float | None:
        """The time that the last run of the plan took [s]; None: it was not run."""
        found = json.loads(self._print(lib.TSR_JSON_ALONE))["verdict"]["measured"]
        return None if found is None else float(found)

    @property
    def floor(self) -> float:
        """The least time that the machine allows for the call [s]."""
        return float(self._alone["floor"])

    @property
    def rate(self) -> float:
        """The predicted rate [flop/s]."""
        return float(self._alone["rate"])

    @property
    def most(self) -> float:
        """The rate at the floor [flop/s]."""
        return float(self._alone["most"])

    @property
    def estimate(self) -> str | None:
        """Which figures that the times follow from nobody has measured: "an estimate (extrapolated: host
        memory)". None: all are measured, or nobody says."""
        told = self._alone["estimate"]
        return None if told is None else str(told)

    @property
    def limit(self) -> Busy:
        """What binds the call."""
        return _busy(self._alone["limit"])

    @property
    def busy(self) -> list[Busy]:
        """What the call uses, the busiest first."""
        return [_busy(each) for each in self._alone["busy"]]

    @property
    def instead(self) -> list[Instead]:
        """Choices that would be faster, the fastest first."""
        return [Instead(each["what"], each["seconds"], each["rate"])
                for each in self.json["verdict"]["instead"]]

    @property
    def devices(self) -> list[int]:
        """The devices that do the work; none: the CPU's BLAS does it."""
        return [int(device) for device in self._alone["devices"]["used"]]

    @property
    def text(self) -> str:
        """The plan in tables: rates, bytes, and how the matrices are cut."""
        return self._print(lib.TSR_TEXT)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the timeline: a picture (.svg), or a trace for https://ui.perfetto.dev (.json)."""
        forms = {".svg": lib.TSR_TIMELINE_SVG, ".json": lib.TSR_TIMELINE_JSON}
        path = file_of("file", file)
        if path.suffix not in forms:
            raise ArgumentError(f"file is {str(file)!r}; give a name that ends with .svg or .json")
        path.write_text(self._print(forms[path.suffix]), encoding="utf-8")

    def __repr__(self) -> str:
        return self._print(lib.TSR_VERDICT).rstrip()

    def _repr_svg_(self) -> str:
        return self._print(lib.TSR_TIMELINE_SVG)


# ---- Making one ----

_HOMES = {"pageable": "TSR_PAGEABLE", "pinned": "TSR_PINNED", "managed": "TSR_MANAGED"}


def _home(name: str, said: str | int) -> tuple[int, int]:
    if isinstance(said, (int, Integral)):
        return lib.TSR_DEVICE, device_of("homes", said)
    if not isinstance(said, str) or said not in _HOMES:
        raise ArgumentError(f"homes has {said!r} for {name}; give "
                            + ", ".join(repr(word) for word in _HOMES) + " or a device's number")
    return getattr(lib, _HOMES[said]), 0


def _absent(name: str, rows: int, columns: int, order: str, letter: str) -> Matrix:
    """A matrix that does not exist."""
    return Matrix(name, None, None, 0, rows, columns, *dense_strides(rows, columns, order), letter)


class Planner(Routines[Plan]):
    """Plans each routine: routines return a Plan. Operands are arrays, or shapes of matrices that
    do not exist."""

    def __init__(self, handle: Handle, dtype: Any, homes: str | int | Sequence[str | int] | None
                 ) -> None:
        self._handle = handle
        self._letter = letter_of(dtype)
        self._homes = homes
        if homes is None or isinstance(homes, (str, int, Integral)):
            return
        if not isinstance(homes, (tuple, list)) or len(homes) != 3:
            raise ArgumentError(f"homes is {homes!r}; give one, or one for each of a, b, c")

    def _matrix(self, name: str, given: Any) -> Matrix:
        if not (isinstance(given, (tuple, list)) and all(isinstance(x, (int, Integral)) for x in given)):
            return matrix_of(name, given, Streams(self._handle).of_producer)
        if len(given) != 2 or min(given) < 0 or max(given) >= 2**63:
            raise ArgumentError(f"{name} is {given}; give two extents, rows and columns")
        return _absent(name, int(given[0]), int(given[1]), "C", self._letter)

    def _where(self, name: str, x: Matrix) -> tuple[int, int]:
        homes = self._homes
        if homes is not None:
            said = homes if isinstance(homes, (str, int, Integral)) else homes["abc".index(name)]
            memory, device = _home(name, said)
            if memory == lib.TSR_DEVICE:
                check_device("homes", device, self._handle.planned_devices)
            return memory, device
        if x.array is None:
            return self._where_new()
        home = self._handle.home(x.address, max(1, x.bytes))
        return home.memory, home.location

    def _where_new(self) -> tuple[int, int]:
        """A new result is on the device that A is on; in host memory it is not pinned."""
        a = self._a
        if a.array is None or self._handle.home(a.address, max(1, a.bytes)).memory != lib.TSR_DEVICE:
            return lib.TSR_PAGEABLE, 0
        return self._where("a", a)

    def _call(self, request: Request) -> Call:
        operation = request.operation
        given = {name: getattr(request, name) for name in ("a", "b", "c", "out")}
        found = {name: self._matrix(name, x) for name, x in given.items()
                 if x is not None or name == "a" or (name == "b" and operation in WITH_B)}
        self._a = found["a"]
        for x in found.values():
            _check_like(x, found["a"])
        _layout.check_type(operation, found["a"])
        begins = found.pop("b" if operation in TRIANGULAR else "c", None)
        out = found.pop("out", None)
        mnk = _layout.extents(operation, request.flags, found["a"],
                              begins if operation in TRIANGULAR else found.get("b"))
        by_rows = _layout.best_order(operation, request.flags, mnk, found, begins)
        order = "C" if by_rows else "F"
        c = out or begins or _absent("out", mnk[0], mnk[1], order, self._a.letter)
        return _layout.in_order_of(c, operation, request.flags, mnk, found)

    def _carry_out(self, request: Request) -> Plan:
        call = self._call(request)
        letter = _letter(request, self._a)
        if request.out is None and request.c is None and request.beta is not None:
            request = replace(request, c=())
        alpha, beta = scalars(request, letter)
        homes = ffi.new("tsr_home[3]", [self._where(name, call.operands.get(name, call.operands["c"]))
                                        for name in "abc"])
        made, arithmetic = ffi.new("tsr_plan **"), c_arithmetic(request.arithmetic)

        def plan() -> Plan:
            check(lib.tsr_plan_level3(self._handle.pointer, level3(call, letter, arithmetic), alpha,
                                      beta, homes, made))
            return Plan(made[0])
        planned: Plan = self._handle.carry_out(plan)
        return planned
