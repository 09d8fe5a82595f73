# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What several tests of the doors are given."""
from pathlib import Path

import pytest

from support import missing


@pytest.fixture(name="netlib")
def netlib_folders():
    """Netlib's LAPACK over netlib's BLAS: it calls itself and the BLAS by the names that we have, too."""
    lapack = [f.parent for f in Path("/usr/lib").rglob("lapack/liblapack.so.3")]
    blas = [f.parent for f in Path("/usr/lib").rglob("blas/libblas.so.3") if f.parent.name == "blas"]
    if not lapack or not blas:
        missing("netlib's libraries (liblapack3, libblas3)")
    return f"{lapack[0]}:{blas[0]}"
