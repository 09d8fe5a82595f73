# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Which libraries of ROCm the HIP engine takes, what it says without them, and devices that are hidden: over the
libraries of this folder, under the names of each release."""
import json
import os
import re
from pathlib import Path

import pytest

from support import BUILD, ROOT, missing, run, tessera

pytestmark = pytest.mark.slow

FOLDER = BUILD / "tests/hip"
BLAS = {5: "librocblas.so.0", 6: "librocblas.so.4", 7: "librocblas.so.5"}
HIDING = ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"]

if not (FOLDER / "rocm5").exists() or not (BUILD / "lib/libtessera_hip.so.0.2").exists():
    pytest.skip("there is no HIP engine", allow_module_level=True)


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name in HIDING or (name.startswith("TESSERA_") and name != "TESSERA_BIN"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "none"))


def runtime(rocm):
    return FOLDER / f"rocm{rocm}" / f"libamdhip64.so.{rocm}"


def blas(rocm):
    return FOLDER / f"rocm{rocm}" / BLAS[rocm]


def linked(folder, *files, **names):
    """A folder with links to the files, under their names or others."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        (folder / file.name).symlink_to(file)
    for name, file in names.items():
        (folder / name).symlink_to(file)
    return folder


def doctor(code=0, **variables):
    """What is said of GPUs."""
    found = tessera("doctor --json", env={"TESSERA_ENGINE": "hip", "TSR_HIP_DEVICES": "4", **variables}).exits(code)
    return [f["text"] for f in json.loads(found.out)["findings"] if f["about"] == "gpu"]


def refusal(folder):
    """The one line."""
    done = tessera("machine --engine hip", env={"LD_LIBRARY_PATH": folder, "TSR_HIP_DEVICES": "1"}).exits(1)
    assert done.err.count("\n") == 1, repr(done)
    return done.err


# ---- Libraries ----


@pytest.mark.parametrize("rocm", [5, 6, 7])
def test_each_release(rocm):
    said = doctor(LD_LIBRARY_PATH=FOLDER / f"rocm{rocm}")
    assert any(text.startswith(f"4 x HIP test device (ROCm {rocm}), ") for text in said), said


def test_rocm_5_7(tmp_path):
    """Its rocBLAS is 3.1."""
    folder = linked(tmp_path / "lib", runtime(5), **{"librocblas.so.3": blas(5)})
    assert any("(ROCm 5)" in text for text in doctor(LD_LIBRARY_PATH=folder))


def test_the_newest_release_counts(tmp_path):
    folder = linked(tmp_path / "lib", *(f(rocm) for f in (runtime, blas) for rocm in (5, 6, 7)))
    assert any("(ROCm 7)" in text for text in doctor(LD_LIBRARY_PATH=folder))


def test_a_release_without_its_blas_does_not_count(tmp_path):
    folder = linked(tmp_path / "lib", runtime(7), runtime(6), blas(6), runtime(5), blas(5))
    assert any("(ROCm 6)" in text for text in doctor(LD_LIBRARY_PATH=folder))


def test_rocm_where_the_loader_does_not_look(tmp_path):
    linked(tmp_path / "rocm/lib", runtime(6), blas(6))
    assert any("(ROCm 6)" in text for text in doctor(ROCM_PATH=tmp_path / "rocm"))


@pytest.mark.parametrize("rocm, name", [(5, "librocblas.so.3 or librocblas.so.0"), (6, "librocblas.so.4"),
                                        (7, "librocblas.so.5")])
def test_a_blas_that_is_missing(tmp_path, rocm, name):
    said = refusal(linked(tmp_path / "lib", runtime(rocm)))
    assert f"rocBLAS is not here: libamdhip64.so.{rocm} is found, but {name} is not; install ROCm's rocblas, or" in said


def test_a_blas_is_not_missed_without_devices(tmp_path):
    folder = linked(tmp_path / "lib", runtime(6))
    done = tessera("machine --engine hip", env={"LD_LIBRARY_PATH": folder, "TSR_HIP_DEVICES": "0"}).exits(1)
    assert "no HIP device is visible on this machine" in done.err, repr(done)


def test_a_runtime_that_lacks_functions(tmp_path):
    """Any library under the name of the runtime."""
    libm = next((Path(line.split()[-1]) for line in run(["/sbin/ldconfig", "-p"]).ok().out.splitlines()
                 if "libm.so.6" in line and "x86-64" in line), None)
    if libm is None:
        missing("libm.so.6 in the loader's list")
    said = refusal(linked(tmp_path / "lib", **{"libamdhip64.so.7": libm}))
    assert "libamdhip64.so.7 lacks hipDeviceCanAccessPeer; the HIP engine needs ROCm 5.2 or later" in said


# ---- Functions ----


def wanted(table):
    text = (ROOT / "src/engine/hip/functions.h").read_text(encoding="utf-8")
    lines = re.search(rf"#define {table}\(X\)((?:.*\\\n)*.*\n)", text)[1]
    return set(re.findall(r"X\((\w+)\)", lines))


def exported(library, pattern):
    names = run(["nm", "-D", "--defined-only", library]).ok().out.split()
    return {name.split("@")[0] for name in names if re.match(pattern, name)}


@pytest.mark.parametrize("rocm", [5, 6, 7])
def test_the_runtime_has_the_functions_that_are_looked_up(rocm):
    """The properties of a device have a name for each layout; the old name stays."""
    expected = wanted("TSR_HIP_RUNTIME") | {"hipGetDeviceProperties"}
    if rocm >= 6:
        expected.add("hipGetDevicePropertiesR0600")
    assert exported(runtime(rocm), "hip[A-Z]") == expected


@pytest.mark.parametrize("rocm", [5, 6, 7])
def test_the_blas_has_the_functions_that_are_looked_up(rocm):
    """Before 4.0 rocblas_Xtrmm is there, too, and overwrites its operand; and 8-bit integers have layouts."""
    trmm = wanted("TSR_HIP_BLAS_TRMM")
    expected = wanted("TSR_HIP_BLAS") | trmm
    if rocm == 5:
        expected |= {name + "_outofplace" for name in trmm} | wanted("TSR_HIP_BLAS_LAYOUT")
    assert exported(blas(rocm), "rocblas_") == expected


@pytest.mark.parametrize("rocm", [5, 6, 7])
def test_the_compiler_has_the_functions_that_are_looked_up(rocm):
    """It is a part of the runtime in release 5."""
    library = runtime(5) if rocm == 5 else FOLDER / f"rocm{rocm}" / f"libhiprtc.so.{rocm}"
    assert exported(library, "hiprtc[A-Z]") == wanted("TSR_HIP_COMPILER")


# ---- Hidden devices ----


def test_hidden_devices():
    here = {"LD_LIBRARY_PATH": FOLDER / "rocm6"}
    said = doctor(HIP_VISIBLE_DEVICES="2,0", **here)
    assert any(text.startswith("2 x HIP test device") for text in said), said
    assert 'HIP_VISIBLE_DEVICES is "2,0": other GPUs are hidden.' in said
    said = doctor(ROCR_VISIBLE_DEVICES="1,2,3", HIP_VISIBLE_DEVICES="2", **here)
    assert any(text.startswith("1 x HIP test device") for text in said), said
    assert sum("other GPUs are hidden" in text for text in said) == 2, said


def test_the_variable_of_cuda():
    """HIP reads it where its own is empty."""
    here = {"LD_LIBRARY_PATH": FOLDER / "rocm6"}
    said = doctor(CUDA_VISIBLE_DEVICES="1", **here)
    assert any(text.startswith("1 x HIP test device") for text in said), said
    assert any("CUDA_VISIBLE_DEVICES is" in text and "hides AMD GPUs, too" in text for text in said), said
    said = doctor(CUDA_VISIBLE_DEVICES="1", HIP_VISIBLE_DEVICES="0,1,2", **here)
    assert any(text.startswith("3 x HIP test device") for text in said), said
    assert not any("hides AMD GPUs" in text for text in said), said


def test_all_devices_are_hidden():
    here = {"LD_LIBRARY_PATH": FOLDER / "rocm6"}
    said = doctor(code=1, ROCR_VISIBLE_DEVICES="", **here)
    assert any('no HIP device is visible on this machine: ROCR_VISIBLE_DEVICES is ""' in text for text in said), said


def test_numbers_of_visible_devices():
    """TESSERA_DEVICES counts what is left."""
    here = {"LD_LIBRARY_PATH": FOLDER / "rocm6", "TSR_HIP_DEVICES": "4", "HIP_VISIBLE_DEVICES": "3,1"}
    done = tessera("machine --engine hip --devices 2,", env=here).exits(1)
    assert "device 2 is asked for; this machine has 0 to 1" in done.err, repr(done)
