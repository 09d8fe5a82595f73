# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The routines whose results are arrays. Type checkers read _typed.pyi, which says of which type."""
from __future__ import annotations

from typing import Any

from ._routines import Routines


class ArrayRoutines(Routines[Any]):
    """Results are arrays: out, or one of the library that a (of trmm and trsm, b) is of."""
