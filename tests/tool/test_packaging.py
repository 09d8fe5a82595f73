# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The tools of packaging/: one version everywhere, Debian's symbols files, SPDX headers."""
import os
import shutil
import subprocess

import pytest

import support
from support import ROOT

VERSIONED = ["CMakeLists.txt", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "include/tessera.h",
             "debian/changelog", "debian/control", "debian/libtessera0.2.symbols",
             "packaging/spack/package.py", "packaging/conda/recipe.yaml"]
SYMBOLS = ["debian/libtessera0.2.symbols", "debian/libtessera-mpi0.2.symbols",
           "src/front/exports.map", "src/cluster/exports.map", "src/papers/exports.map"]


def copy(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)


def run(folder, tool, *words):
    """The tool's exit code and what it printed, where the tool works on a folder."""
    copy(folder, [f"packaging/{tool}"])
    done = subprocess.run([folder / "packaging" / tool, *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# ---- The version ----

def test_the_version_is_the_same_everywhere(tmp_path):
    copy(tmp_path, VERSIONED)
    code, said = run(tmp_path, "check_version")
    assert code == 0, said


@pytest.mark.parametrize("name, old, new", [
    ("include/tessera.h", "#define TSR_VERSION_PATCH ", "#define TSR_VERSION_PATCH 7"),
    ("CHANGELOG.md", "## ", "## 7."),
    ("CITATION.cff", "\nversion: ", "\nversion: 7."),
    ("debian/changelog", "tessera (", "tessera (7."),
    ("debian/control", "Package: libtessera-mpi0.", "Package: libtessera-mpi0.7"),
    ("debian/libtessera0.2.symbols", "libtessera.so.0.", "libtessera.so.0.7"),
    ("packaging/spack/package.py", 'version("', 'version("7.'),
    ("packaging/conda/recipe.yaml", '  version: "', '  version: "7.'),
    ("pyproject.toml", 'dynamic = ["version"]', 'version = "0.2.0"'),
])
def test_another_version_is_found(tmp_path, name, old, new):
    copy(tmp_path, VERSIONED)
    edit(tmp_path / name, old, new)
    code, said = run(tmp_path, "check_version")
    assert code == 1 and name in said, said


# ---- Debian's symbols files ----

def test_symbols_files_are_as_the_version_scripts(tmp_path):
    copy(tmp_path, SYMBOLS)
    code, said = run(tmp_path, "debian_symbols", "--check")
    assert code == 0, said


def test_a_function_that_is_added_is_found(tmp_path):
    copy(tmp_path, SYMBOLS)
    edit(tmp_path / "src/front/exports.map", "tsr_sync;", "tsr_sync; tsr_[sd]new;")
    code, said = run(tmp_path, "debian_symbols", "--check")
    assert code == 1 and "libtessera0.2.symbols" in said and "mpi" not in said, said
    assert run(tmp_path, "debian_symbols")[0] == 0
    lines = (tmp_path / "debian/libtessera0.2.symbols").read_text().splitlines()
    assert " tsr_snew@TESSERA_0.2 0.2.0" in lines and " tsr_dnew@TESSERA_0.2 0.2.0" in lines
    assert run(tmp_path, "debian_symbols", "--check")[0] == 0


# ---- SPDX headers ----

# REUSE-IgnoreStart
C_HEADER = ("/* SPDX-FileCopyrightText: 2026 The Tessera authors */\n"
            "/* SPDX-License-Identifier: BSD-3-Clause */\n")
HASH_HEADER = ("# SPDX-FileCopyrightText: 2026 The Tessera authors\n"
               "# SPDX-License-Identifier: BSD-3-Clause\n")
# REUSE-IgnoreEnd


def test_headers_are_added_once(tmp_path):
    before = {"a.c": "/* What it does. */\nint a;\n", "empty.h": "", "tool": "#!/bin/sh\nexit 0\n",
              "text.md": "# A page\n", "b.f90": "\nend\n", "data": "no source\n"}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", *before], check=True)
    code, said = run(tmp_path, "spdx_headers", "--check")
    assert code == 1 and "a.c: no SPDX header" in said and "4 headers are missing" in said, said
    assert (tmp_path / "a.c").read_text() == before["a.c"], "--check has changed a file"
    for added in ("4 headers were added", "0 headers were added"):
        assert added in run(tmp_path, "spdx_headers")[1]
        after = {name: (tmp_path / name).read_text() for name in before}
        assert after == {**before, "a.c": C_HEADER + "\n" + before["a.c"], "empty.h": C_HEADER,
                         "tool": "#!/bin/sh\n" + HASH_HEADER + "\nexit 0\n",
                         "b.f90": HASH_HEADER.replace("#", "!") + before["b.f90"]}
    assert run(tmp_path, "spdx_headers", "--check")[0] == 0


@pytest.mark.parametrize("words, jobs", [(["-j2"], ""), ([], "-j 3"), (["-j"], "")])
def test_make_hands_its_jobs_on(tmp_path, words, jobs):
    """`make -j2` warned that the build inside has a number of its own."""
    (tmp_path / "tools").mkdir()
    for script in ("setup.sh", "configure.sh"):
        (tmp_path / "tools" / script).write_text("exit 0\n")
    (tmp_path / "inside.mk").write_text("all:\n\t@echo built\n")
    (tmp_path / "cmake").write_text('#!/bin/sh\nshift 2\necho "jobs: $*"\nexec make -f inside.mk "$@"\n')
    (tmp_path / "cmake").chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "MAKEFLAGS": ""}
    done = support.run(["make", "-f", ROOT / "Makefile", *words, "JOBS=3"], env=env, cwd=tmp_path).ok(f"^jobs: {jobs}$", "^built$")
    assert "warning" not in done.out + done.err
