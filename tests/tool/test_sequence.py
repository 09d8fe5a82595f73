# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The picture of a sequence's timeline, tools/docs/sequence.py."""
import json
import re

from support import ROOT, run


def named(kind, pid, tid, name):
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def bar(pid, tid, name, begin, length):
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": begin, "dur": length}


def test_a_row_for_each_call_and_queue(tmp_path):
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": [
        named("process_name", 9, 0, "calls"), named("thread_name", 9, 0, "on the devices"),
        named("process_name", 1, 0, "measured: device 0"), named("thread_name", 1, 5, "compute 0"),
        named("process_name", 2, 0, "measured: host 0"), named("thread_name", 2, 0, "staging 0"),
        bar(9, 0, "dtrsm LLNN", 0, 4000), bar(2, 0, "copy of A", 0, 1000), bar(1, 5, "triangle", 1000, 3000),
        bar(9, 0, "dgemm NN", 4000, 4000), bar(1, 5, "gemm", 4000, 4000)]}))
    done = run(["python3", ROOT / "tools/docs/sequence.py", tmp_path / "trace.json", tmp_path / "picture.svg"])
    assert done.code == 0, repr(done)
    picture = (tmp_path / "picture.svg").read_text()
    assert re.findall(r'class="e"[^>]*>([^<]*)<', picture) == ["dtrsm ", "dgemm ", "device 0 compute 0"]
    bars = re.findall(r'class="(c\d)" x="([\d.]+)".*?<title>(\w+)', picture)
    assert [(colour, name) for colour, _, name in bars] == [
        ("c0", "dtrsm"), ("c1", "dgemm"), ("c0", "triangle"), ("c1", "gemm")]
    assert bars[1][1] == bars[3][1] != bars[2][1], "the product's bar begins where its kernel's does"
    assert "8 ms" in picture and "staging" not in picture
