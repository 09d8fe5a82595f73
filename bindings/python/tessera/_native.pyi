# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What build_native.py writes."""
from typing import Any

SONAME: str
ffi: Any
