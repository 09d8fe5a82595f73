# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The files that commands write: none of the user's is lost, all are checked before work begins, and
nothing is left of a command that is killed."""
import os
import signal
import subprocess
from pathlib import Path

import pytest

from support import (BUILD, DIGITS, begun, data_of, goes_on, lacking, limited, run, some_data, tessera,
                     write_npy)

HOST = "--engine host --devices 2 "
GRAM = "gemm d.npy d.npy --transb T --engine cpu "
WIDE = "gemm left.npy right.npy -o wide.npy --engine cpu "
WIDE_BYTES = 400000128


@pytest.fixture(autouse=True)
def digits(clean):
    Path("d.npy").write_bytes(DIGITS.read_bytes())


@pytest.fixture
def wide():
    write_npy("left.npy", "<f4", True, (10000, 16), some_data(640000))
    write_npy("right.npy", "<f4", True, (16, 10000), some_data(640000))
    yield
    for file in Path().glob("wide.npy*"):
        file.unlink()


def names():
    return sorted(path.name for path in Path().iterdir() if path.name != ".cache")


# ---- An output that is an input ----


@pytest.mark.parametrize("name", ["d.npy", "./d.npy", "there/../d.npy", "soft.npy", "hard.npy", "far/d.npy"])
def test_input_as_output(name):
    os.mkdir("there")
    os.symlink("d.npy", "soft.npy")
    os.link("d.npy", "hard.npy")
    os.symlink(".", "far")
    before = Path("d.npy").read_bytes()
    tessera(GRAM + f"-o {name} --force").refused(f"-o {name}: this is the input d.npy", code=1)
    assert Path("d.npy").read_bytes() == before


def test_c0_as_output():
    tessera(GRAM + "-o c.npy").ok()
    tessera(GRAM + "--c c.npy -o c.npy --force").refused("this is the input c.npy", code=1)


def test_timeline_as_input_or_output(tmp_path):
    os.link("d.npy", "d.svg")
    tessera(GRAM + "-o c.npy --timeline d.svg --force").refused("this is the input d.npy", code=1)
    assert Path("d.svg").read_bytes() == DIGITS.read_bytes()
    tessera(GRAM + f"-o c.svg --timeline {tmp_path}/c.svg").refused(
        "--timeline .*: this is the file of -o", code=1)
    assert names() == ["d.npy", "d.svg"]


def test_machine_as_output():
    Path("m.json").write_text(tessera("machine --machine gpu*2 --json").ok().out, encoding="utf-8")
    before = Path("m.json").read_text(encoding="utf-8")
    tessera("plan gemm d 99 99 99 --machine m.json --timeline m.json --force").refused(
        "this is the input m.json", code=1)
    assert Path("m.json").read_text(encoding="utf-8") == before


# ---- An output that exists ----


def test_existing_is_kept():
    Path("c.npy").write_text("old\n", encoding="utf-8")
    tessera(GRAM + "-o c.npy").refused("-o c.npy: the file exists; --force replaces it", code=1)
    tessera("plan gemm d 99 99 99 --machine gpu*2 --timeline c.json").ok()
    tessera("plan gemm d 99 99 99 --machine gpu*2 --timeline c.json").refused("the file exists", code=1)
    tessera("plan gemm d 99 99 99 --machine gpu*2 --timeline c.json --force").ok()
    assert Path("c.npy").read_text(encoding="utf-8") == "old\n"


@pytest.mark.parametrize("lack", ["", "unnamed", "unnamed links"])
def test_replaced(lack):
    """The new file has the old one's mode and owner, and links stay links."""
    os.mkdir("there")
    target = Path("there/c.npy")
    target.write_text("old\n", encoding="utf-8")
    target.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(target, 1234, 4321)
    before = target.stat()
    os.symlink("there/c.npy", "c.npy")
    tessera(GRAM + "-o c.npy --force --verify", env=lacking(lack)).ok("correct")
    after = target.stat()
    assert Path("c.npy").is_symlink() and after.st_size > 1000
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino and names() == ["c.npy", "d.npy", "there"]
    assert os.listdir("there") == ["c.npy"]


@pytest.mark.parametrize("lack", ["", "unnamed", "unnamed links"])
def test_new(lack):
    """A new file has the mode that the umask gives; a link that leads nowhere gets its file."""
    os.symlink("new.npy", "c.npy")
    tessera(GRAM + "-o c.npy", under=["sh", "-c", 'umask 027 && exec "$@"', "sh"], env=lacking(lack)).ok()
    assert Path("c.npy").is_symlink() and Path("new.npy").stat().st_mode & 0o777 == 0o640
    assert names() == ["c.npy", "d.npy", "new.npy"]


@pytest.mark.parametrize("lack", ["", "unnamed"])
def test_made_meanwhile(wide, lack):
    """A file that another program makes during the product is not replaced, nor is the result lost."""
    with begun(WIDE, lack, stderr=subprocess.PIPE) as program:
        Path("wide.npy").write_text("other\n", encoding="utf-8")
        goes_on(program)
        said = program.communicate(timeout=300)[1].decode()
    assert program.returncode == 1 and Path("wide.npy").read_text(encoding="utf-8") == "other\n"
    beside = [path for path in Path().glob("wide.npy.*") if path.stat().st_size == WIDE_BYTES]
    assert len(beside) == 1 and f"the result is in {beside[0].resolve()}" in said


# ---- What is found out before work begins ----


@pytest.mark.parametrize("words, message, code", [
    ("-o c.npy --timeline nodir/t.svg", "--timeline nodir/t.svg: there is no folder nodir", 1),
    ("-o nodir/c.npy", "-o nodir/c.npy: there is no folder nodir", 1),
    ("-o c.npy --timeline t.txt", "must end in .svg .* or .json", 2),
    ("-o c.npy --timeline t.svg", "--timeline t.svg: this is a directory", 1),
    ("-o c.npy/", "-o c.npy/: this names a folder", 1),
    ("-o d.npy/c.npy", "-o d.npy/c.npy: .*Not a directory", 1),
    ("-o ''", "the name of a file is needed", 2),
    ("-o circle.npy", "-o circle.npy: .*symbolic links", 1),
    ("-o /dev/null", "-o /dev/null: this is no ordinary file", 1),
])
def test_refused(words, message, code):
    os.mkdir("t.svg")
    os.symlink("circle.npy", "circle.npy")
    done = tessera(GRAM + words).refused(message, code=code)
    assert done.out == "" and not Path("c.npy").exists()


READ_ONLY = """mount -t tmpfs -o ro tmpfs there || exit 77
shift
exec "$@" """


def test_folder_that_cannot_be_written():
    os.mkdir("there")
    under = ["unshare", "-rm", "sh", "-c", READ_ONLY, "sh", "there"]
    done = tessera(GRAM + "-o c.npy --timeline there/t.svg", under=under)
    if done.code == 77 or "unshare" in done.err:
        pytest.skip("nothing can be mounted here")
    done.refused("--timeline there/t.svg: the folder .*there cannot be written: Read-only", code=1)
    assert not Path("c.npy").exists()


def test_report_of_run():
    done = tessera("run --report-to nodir/r.txt -- touch ran").refused(
        "--report-to nodir/r.txt: there is no folder nodir", code=1)
    tessera("run --report-to d.npy -- cat d.npy").refused("this is the input d.npy", code=1)
    assert done.out == "" and names() == ["d.npy"]


@pytest.mark.parametrize("program", ["bench --n 32 --repeat 1 --peer none " + HOST,
                                     "plan gemm d 99 99 99 --machine gpu*2 "])
def test_refused_by_others(program):
    tessera(program + "--timeline nodir/t.json").refused("there is no folder nodir", code=1)


# ---- A failure after the work ----


def test_timeline_that_fails_costs_no_result():
    os.symlink("/dev/full", "t.svg")
    tessera("gemm d.npy d.npy --transb T -o c.npy --timeline t.svg " + HOST).refused(
        "--timeline t.svg: cannot be written: No space left", code=1)
    tessera(GRAM + "-o right.npy").ok()
    assert data_of("c.npy") == data_of("right.npy")


# ---- What is killed ----


@pytest.mark.parametrize("number, lack", [(signal.SIGKILL, ""), (signal.SIGTERM, ""),
                                          (signal.SIGTERM, "unnamed")])
def test_killed(wide, number, lack):
    Path("wide.npy").write_text("old\n", encoding="utf-8")
    before = names()
    with begun(WIDE + "--force", lack) as program:
        program.send_signal(number)
        goes_on(program)
        assert program.wait(timeout=300) == -number
    assert names() == before and Path("wide.npy").read_text(encoding="utf-8") == "old\n"


# ---- Pipes, devices, and lines ----


def test_standard_output(tmp_path):
    """A timeline goes behind what is printed already, also if the output is a file."""
    os.symlink("/dev/stdout", "t.svg")
    with open("all.txt", "wb") as out:
        done = run(["sh", "-c", 'exec "$@"', "sh", BUILD / "bin/tessera", "plan", "gemm", "d", "99", "99",
                    "99", "--machine", "gpu*2", "--timeline", "t.svg"])
        done.ok("predicted", "<svg")
        subprocess.run([BUILD / "bin/tessera", "plan", "gemm", "d", "99", "99", "99", "--machine",
                        "gpu*2", "--timeline", "t.svg"], stdout=out, check=True)
    text = (tmp_path / "all.txt").read_text(encoding="utf-8")
    assert text.index("predicted") < text.index("<svg") and Path("t.svg").is_symlink()


def bench(words):
    return tessera("bench --n 32 --repeat 1 --peer none --rate-seconds 0 " + HOST + words)


def test_lines_are_added():
    bench("--csv b.csv").ok()
    bench("--csv b.csv").ok()
    lines = Path("b.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 and lines[0].startswith("op,type") and lines[1].startswith("gemm,d,32")
    bench("--csv /dev/stdout").ok("^op,type,", "^gemm,d,32")


@pytest.mark.parametrize("text", ["name,price\ntea,3\n", "op\n", "op,type,m,n,k,home,devices,cold_s"])
def test_lines_of_others(text):
    """A file of other lines is left as it is."""
    Path("b.csv").write_text(text, encoding="utf-8")
    bench("--csv b.csv").refused("--csv b.csv: the file has other columns", code=1)
    assert Path("b.csv").read_text(encoding="utf-8") == text


def test_limit_of_a_file():
    tessera(GRAM + "-o c.npy", under=limited("-f 100")).refused("-o c.npy: cannot take", code=1)
    assert names() == ["d.npy"]
