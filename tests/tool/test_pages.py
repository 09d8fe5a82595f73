# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What is made from the tables of the code: the reference pages, completion, manual pages; and that what was
installed can be removed again."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import BUILD, ROOT, TESSERA, missing, run, tessera

MAKERS = ROOT / "tools/docs"
COMMANDS = [line.split()[0] for line in
            re.search(r"commands:\n(.*?)\n\n", tessera("--help").out, re.DOTALL)[1].splitlines()]


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    """Pages and completions, made by the command that is tested."""
    folder = tmp_path_factory.mktemp("share")
    for maker, words in (("man.py", [ROOT / "include/tessera.h", folder / "man"]),
                         ("completion.py", [folder])):
        run([sys.executable, MAKERS / maker, TESSERA, *words]).ok().quiet()
    return folder


def test_reference_pages():
    """They have the tables of the code."""
    done = run([sys.executable, MAKERS / "reference.py", BUILD])
    assert done.code == 0, f"{done.out}{done.err}"


def test_routines_that_users_read():
    """Their declarations in tessera.h, for C++, for Python and for Fortran are those of the table."""
    done = run([sys.executable, ROOT / "tools/routines/write.py"])
    assert done.code == 0, done.err


def test_pages_of_results():
    """They are made from the CSV files beside them."""
    done = run([sys.executable, MAKERS / "results.py"])
    assert done.code == 0, done.err


@pytest.mark.parametrize("page", sorted(p.stem for p in (ROOT / "docs/results").glob("*.md")
                                        if p.stem not in ("history", "index")))
def test_pages_of_results_begin_with_what_was_reached(page):
    """At most ten lines and a picture that is there, before the first table and command."""
    top = re.split(r"^(?:\||```)", (ROOT / f"docs/results/{page}.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[0]
    assert 3 <= len(re.findall(r"^- .*\d", top, re.MULTILINE)) <= 10
    pictures = re.findall(r"^!\[.*\]\((.*\.svg)\)$", top, re.MULTILINE)
    assert len(pictures) == 1 and (ROOT / "docs/results" / pictures[0]).exists()


def options_of(command):
    """What --help prints, or None for a command that this build lacks."""
    done = tessera(f"{command} --help")
    if done.code != 0:
        return None
    return re.findall(r"^  (?:-\w, )?(--[a-z-]+)", done.ok().out, re.MULTILINE)


def bash_completes(share, *words):
    """The words that bash offers for the last one."""
    script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tessera; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = run(["bash", "-c", script, "bash", share / "bash-completion/completions/tessera", "tessera", *words])
    return done.ok().quiet().out.split()


@pytest.mark.parametrize("command", [*COMMANDS, "plan pgemm"])
def test_bash_completes_every_option(share, command):
    options = options_of(command)
    if options is None:
        missing(f"tessera {command} in this build")
    assert "--help" in options
    assert set(bash_completes(share, *command.split(), "--")) == set(options)
    for option in options:
        assert option in bash_completes(share, *command.split(), option[:-1])


def test_bash_completes_commands_and_values(share):
    assert set(COMMANDS) < set(bash_completes(share, ""))
    assert set(COMMANDS) == set(bash_completes(share, "help", ""))
    assert bash_completes(share, "gemm", "a.npy", "--engine", "") == ["cuda", "hip", "host", "cpu"]
    assert bash_completes(share, "gemm", "--transa", "") == ["N", "T", "C"]
    assert bash_completes(share, "gemm", "--alpha", "") == []


def test_bash_completes_files_and_programs(share):
    Path("matrix.npy").touch()
    for words in (["gemm", "mat"], ["gemm", "-o", "mat"], ["gemm", "--c", "mat"]):
        assert bash_completes(share, *words) == ["matrix.npy"]
    assert "printf" in bash_completes(share, "run", "--", "printf")
    assert "--report" not in bash_completes(share, "run", "--", "--rep")


@pytest.mark.parametrize("command", [*COMMANDS, "plan pgemm"])
def test_zsh_has_every_option(share, command):
    if shutil.which("zsh"):
        run(["zsh", "-n", share / "zsh/site-functions/_tessera"]).ok().quiet()
    text = (share / "zsh/site-functions/_tessera").read_text(encoding="utf-8")
    options = options_of(command)
    if options is None:
        missing(f"tessera {command} in this build")
    case = re.search(rf'^    "{command}"\)(.*?);;$', text, re.MULTILINE | re.DOTALL)[1]
    assert set(re.findall(r"^        (?:'|'.*?'\{)(--[a-z-]+)[,[]", case, re.MULTILINE)) == set(options)


@pytest.mark.parametrize("command", [*COMMANDS, "plan pgemm"])
def test_manual_page_of_a_command(share, command):
    """It has every option, and troff has nothing to say against it."""
    options = options_of(command)
    if options is None:
        missing(f"tessera {command} in this build")
    page = share / f"man/man1/tessera-{command.replace(' ', '-')}.1"
    text = page.read_text(encoding="utf-8").replace("\\-", "-")
    assert all(f"\\fB{option}\\fR" in text for option in options)


def test_manual_pages_are_troff(share):
    if shutil.which("groff") is None:
        missing("groff")
    pages = [page for page in sorted((share / "man").rglob("*.[13]"))
             if page.name == "tsr_dgemm.3" or not page.read_text(encoding="utf-8").startswith(".so ")]
    assert len(pages) > 10
    for page in pages:
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", "-I", share / "man", page], capture_output=True,
                              text=True, check=False)
        assert done.stderr == "", f"{page}: {done.stderr}"


def test_manual_page_of_the_library(share):
    """It has every function that the header declares."""
    text = (share / "man/man3/libtessera.3").read_text(encoding="utf-8")
    header = (ROOT / "include/tessera.h").read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    functions = re.findall(r"^TSR_(?:API [\w ]+?\*?|TYPED_\w+\()(tsr_\w+)", code, re.MULTILINE)
    assert len(functions) > 80
    assert [name for name in functions if not re.search(rf"\b{name}\b", text)] == []
    description = text.split(".SH DESCRIPTION\n")[1]
    assert description.startswith(".PP\nTessera: dense matrix products")
    assert "Conventions" in description.split(".SH ")[0] and "SPDX" not in text
    for name in (*functions, "tsr_dgemm_async"):
        assert (share / f"man/man3/{name}.3").read_text(encoding="utf-8") == ".so man3/libtessera.3\n", name


def test_pages_of_the_interfaces(tmp_path):
    """Those that only the site has: every public name of C and of Python has its heading."""
    for maker in ("api.py", "api_python.py"):
        run([sys.executable, "-B", MAKERS / maker, tmp_path]).ok().quiet()
    c = (tmp_path / "api.md").read_text(encoding="utf-8")
    for name in ("tsr_gemm", "tsr_options", "tsr_dgemm", "tsr_event_wait", "tsr_progress"):
        assert re.search(rf"^### .*\b{name}\b", c, re.MULTILINE), name
        assert f"({name.lower().replace('_', '-')})=" in c
    package = (ROOT / "bindings/python/tessera/__init__.py").read_text(encoding="utf-8")
    names = re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", package, re.DOTALL)[1])
    python = (tmp_path / "api-python.md").read_text(encoding="utf-8")
    assert len(names) > 30
    assert [n for n in names if not re.search(rf"^###+ (Routines\.)?{n}$", python, re.MULTILINE)] == []


def headings(page):
    """The anchors of a page's headings, as they are made on the web."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", t).lower()).replace(" ", "-") for t in titles}


def links():
    """(page, where a link or a picture of it leads), without those that lead elsewhere."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "machines").glob("*.md"),
                 *(ROOT / "bench").glob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if not re.match(r"https?:|mailto:", target) and not page.name.startswith("api"):
                yield page, target


def test_links():
    """They lead to files and headings that exist."""
    broken, count = [], 0
    for page, target in links():
        count += 1
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in headings(file)):
            broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert count > 100
    assert broken == []


def test_uninstall(tmp_path):
    """Removes what was installed and nothing else. The list is that of an installation of our own."""
    (tmp_path / "build").mkdir()
    for name in ("lib/libtessera.so.0.2", "share/doc/tessera/docs/index.md", "lib/libother.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "lib/libtessera.so").symlink_to("libtessera.so.0.2")
    ours = ["lib/libtessera.so.0.2", "lib/libtessera.so", "share/doc/tessera/docs/index.md"]
    (tmp_path / "build/install_manifest.txt").write_text(
        "\n".join(str(tmp_path / name) for name in ours), encoding="utf-8")
    remove = ["cmake", f"-DBUILD={tmp_path / 'build'}", "-P", ROOT / "cmake/uninstall.cmake"]
    run(remove).ok("Removed 3 files")
    left = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*"))
    assert left == ["build", "lib", "lib/libother.so", "share", "share/doc"]
    run(remove).refused("nothing was installed", code=1)
