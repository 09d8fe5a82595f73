# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Checks of arguments that are no arrays: what is refused is refused by its name, before it reaches C."""
from __future__ import annotations

import os
from operator import index
from pathlib import Path
from typing import Any, Sequence

from ._library import ArgumentError

_MOST = 2**63 - 1


def text_of(name: str, value: Any, remedy: str) -> str:
    """A text that C can take."""
    if not isinstance(value, str) or "\0" in value or not _is_encodable(value):
        raise ArgumentError(f"{name} is {value!r}; {remedy}")
    return value


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def path_of(name: str, value: Any) -> str:
    """The path of a file."""
    try:
        path = os.fsdecode(value)
    except (TypeError, UnicodeError):
        raise ArgumentError(f"{name} is {value!r}; give the path of a file") from None
    return text_of(name, path, "give the path of a file")


def file_of(name: str, value: Any) -> Path:
    return Path(path_of(name, value))


def whole_of(name: str, value: Any, remedy: str, least: int = 0, most: int = _MOST) -> int:
    """A whole number."""
    try:
        number = index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; {remedy}") from None
    if not least <= number <= most:
        raise ArgumentError(f"{name} is {value!r}; {remedy}")
    return number


def wholes_of(name: str, value: Any, remedy: str, least: int = 0) -> tuple[int, ...]:
    """Several whole numbers."""
    if isinstance(value, (str, bytes, dict)):
        raise ArgumentError(f"{name} is {value!r}; {remedy}")
    try:
        return tuple(whole_of(name, each, remedy, least) for each in value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; {remedy}") from None


def pair_of(name: str, value: Any, remedy: str) -> tuple[int, int]:
    found = wholes_of(name, value, remedy, 1)
    if len(found) != 2:
        raise ArgumentError(f"{name} is {value!r}; {remedy}")
    return found[0], found[1]


def device_of(name: str, value: Any) -> int:
    return whole_of(name, value, "give the number of a device, 0, 1, ...", 0, 2**31 - 1)


def check_device(name: str, device: int, devices: int) -> None:
    """Refuses the number of a device that the context does not have."""
    if device >= devices:
        has = f"devices 0 to {devices - 1}" if devices > 1 else "device 0 alone" if devices == 1 else "no device"
        raise ArgumentError(f"{name} is {device}, and the context has {has}; "
                            + ("give one of them" if devices > 0 else "leave it out"))


def whether(name: str, value: Any) -> bool:
    """True or False, as Python's, NumPy's or a number."""
    if isinstance(value, bool):
        return value
    return bool(whole_of(name, _bool_as_whole(value), "give True or False", 0, 1))


def whether_or_none(name: str, value: Any) -> bool | None:
    return None if value is None else whether(name, value)


def _bool_as_whole(value: Any) -> Any:
    return int(value) if type(value).__name__ in ("bool_", "bool") else value


def one_or_several(value: Any) -> Sequence[Any]:
    """A value that is one, or a list."""
    return (value,) if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") else tuple(value)
