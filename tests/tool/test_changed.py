# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""tools/changed, which says what .ci/run may skip."""
import os
import re
import shutil
import subprocess
import time

import pytest

from support import ROOT, missing, run

DAY = 24 * 3600
OLD = 3 * DAY


class Repository:
    """One of git, with tools/changed in it; commits have the ages, in seconds, that they are given."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/changed", folder / "tools/changed")
        self.git("init", "-q")

    def git(self, *words, age=0):
        date = f"{int(time.time()) - age} +0000"
        who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
               "GIT_COMMITTER_EMAIL": "a@b", "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        subprocess.run(["git", "-c", "protocol.file.allow=always", *words], cwd=self.folder, env={**os.environ, **who},
                       check=True, capture_output=True)

    def commit(self, name, age):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(time.time_ns()))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", name, age=age)
        return self

    def asks(self, part):
        return run([self.folder / "tools/changed", part])


@pytest.fixture
def repository(tmp_path):
    if not shutil.which("git"):
        missing("git")
    return Repository(tmp_path / "tree")


def test_what_changed_within_a_day_is_named(repository):
    repository.commit("docs/a.md", OLD).commit("docs/b.md", DAY // 2).commit("src/run/a.c", 60)
    repository.asks("site").ok("^docs/b.md has changed$")
    repository.asks("crowds").exits(1).says("^nothing of it has changed since [0-9a-f]+$")


def test_what_is_not_committed_has_changed(repository):
    repository.commit("docs/a.md", OLD).commit("src/run/a.c", 60)
    (repository.folder / "docs/a.md").write_text("new")
    repository.asks("site").ok("^docs/a.md has changed$")


def test_a_path_within_a_pattern_is_found(repository):
    repository.commit("src/engine/hip/CMakeLists.txt", OLD).commit("src/engine/hip/CMakeLists.txt", 60)
    repository.asks("debian").ok("^src/engine/hip/CMakeLists.txt has changed$")


def test_without_a_base_all_is_new(repository):
    repository.commit("src/run/a.c", DAY // 2)
    repository.asks("site").ok("^no commit is older than a day$")


def test_every_tenth_commit_has_all(repository):
    for i in range(9):
        repository.commit(f"src/run/{i}.c", OLD)
    repository.asks("site").exits(1)
    repository.commit("src/run/9.c", 60).asks("site").ok("^a tenth commit$")


def test_a_shallow_clone_has_all(repository, tmp_path):
    repository.commit("src/run/a.c", OLD).commit("src/run/b.c", OLD)
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(tmp_path / "shallow"))
    run([tmp_path / "shallow/tools/changed", "site"]).ok("^the clone is shallow$")


def test_without_git_all_is_new(repository):
    shutil.rmtree(repository.folder / ".git")
    repository.asks("site").ok("^no git$")


def test_an_unknown_part_is_refused(repository):
    repository.asks("sight").refused('there is no part "sight"')


def test_every_part_that_ci_asks_for_is_known():
    asked = set(re.findall(r"(?:step_if|has_news) ([a-z]+)", (ROOT / ".ci/run").read_text()))
    known = set(re.findall(r"^    ([a-z]+)\) echo", (ROOT / "tools/changed").read_text(), re.MULTILINE))
    assert asked == known


def test_inputs_are_there():
    """Each pattern is of files that there are."""
    if not (ROOT / ".git").exists():
        missing("git")
    text = (ROOT / "tools/changed").read_text()
    built = re.search(r'built="(.*)"', text).group(1)
    for line in re.findall(r'\) echo "([^$"].*)" *;;', text):
        for pattern in line.replace("$built", built).split():
            assert run(["git", "-C", ROOT, "ls-files", "--", pattern]).out, f"nothing is {pattern}"
