# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the tests of the Python package share: the package of the build, contexts on emulated devices."""
import importlib
import importlib.util
import sys

import pytest

from support import BUILD, missing

MACHINE = "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19"
sys.path.insert(0, str(BUILD / "python"))


@pytest.fixture
def tessera(clean):
    if importlib.util.find_spec("cffi") is None:
        missing("cffi for this Python")
    if not (BUILD / "python/tessera/_native.py").exists():
        missing("Python package in this build")
    package = importlib.import_module("tessera")
    assert package.__file__.startswith(str(BUILD)), package.__file__
    return package


@pytest.fixture
def context(tessera):
    """Two emulated devices; every plan is verified."""
    with tessera.Context(engine="host", devices=2, machine=MACHINE, check=True) as made:
        yield made
