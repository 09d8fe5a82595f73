# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Every option of every program of bench/ that measures or draws: in a mode that has no use for it, it is refused.
Options are those of the parsers themselves, so that one that is new is refused with --from, or is named here."""
import importlib
import sys

import pytest

from support import ROOT

# What a program uses of its options where it draws an earlier run (--from), beside --plot and --force.
DRAWN = {"pgemm": {"machine", "devices", "driver", "roofline", "network", "peak"}, "rates": {"machine", "homes"},
         "roofline": {"machine", "type"}}
# What it has no use for where it predicts.
UNPREDICTED = {"ablation": {"engine", "repeat", "rate_seconds"},
               "predicted": {"engine", "repeat", "rate_seconds", "tile"}}


def programs():
    files = sorted((ROOT / "bench").glob("*.py"))
    return [f.stem for f in files if "Parser(__doc__" in f.read_text(encoding="utf-8")]


@pytest.fixture
def options(monkeypatch):
    """The options of a program, as its parser has them."""
    def options_of(name):
        module = importlib.import_module(name)
        parser_of = sys.modules["tessera_bench.options"].Parser
        found = []

        def stop(self, *_, **__):
            found.extend(self._actions)
            raise SystemExit(0)
        with monkeypatch.context() as patch:
            patch.setattr(parser_of, "parse_args", stop)
            patch.setattr(sys, "argv", [name])
            with pytest.raises(SystemExit):
                module.main([])
        return [a for a in found if a.dest != "help"]
    return options_of


def value_of(action):
    """A value that the option's own check accepts."""
    if action.nargs == 0:
        return []
    if action.choices:
        return [next(iter(action.choices))]
    for text in ("1", "2", "d", "2x2", "2x2x2", "h,h,h", "1/2", "cuda", "nccl", "gemm"):
        try:
            if action.type:
                action.type(text)
            return [text]
        except Exception:  # pylint: disable=broad-except
            continue
    return None


def words_of(action):
    value = value_of(action)
    if value is None:  # a list of words of its own, which its help tells
        value = [action.metavar.split("|")[0]]
    return [action.option_strings[-1], *value]


@pytest.mark.parametrize("name", programs())
def test_what_drawing_does_not_use(name, options, program):
    drawn = [a for a in options(name) if a.dest == "source"]
    used = {"source", "plot", "force", "machine"} | DRAWN.get(name, set())
    tried = 0
    for action in options(name) if drawn else []:
        if action.dest in used:
            continue
        with open("r.csv", "w", encoding="utf-8") as file:
            file.write("x\n")
        code, _, err = program(name, "--from r.csv", words_of(action))
        assert code == 2 and action.option_strings[-1] in err, f"{name} --from r.csv {words_of(action)}: {err}"
        tried += 1
    assert tried > 5 or not drawn


@pytest.mark.parametrize("name", sorted(UNPREDICTED))
def test_what_predicting_does_not_use(name, options, program):
    for action in options(name):
        if action.dest in UNPREDICTED[name]:
            code, _, err = program(name, "--predict --machine gpu*2" if name != "predicted" else "--machine gpu*2",
                                   words_of(action))
            assert code == 2 and f"{action.option_strings[-1]}: does nothing" in err, err


def test_pgemm_measures_or_predicts(options, program, mpi_driver):
    """Each option belongs to measuring, to predicting, or to both."""
    import pgemm  # pylint: disable=import-outside-toplevel
    both = {"type", "devices", "block", "csv", "driver", "machine", "memory", "peak", "network", "plot", "force",
            "source", "roofline", "predict", "grids", "lookaheads", "cut"}
    never = {"tile", "check", "rate_seconds"}
    named = {a.dest for a in options("pgemm")}
    assert named == both | never | set(pgemm.MEASURE_ONLY) | set(pgemm.PREDICT_ONLY)
    for action in options("pgemm"):
        for mode, names in (("--predict --machine gpu*2", {*pgemm.MEASURE_ONLY, *never}),
                            ("", {*pgemm.PREDICT_ONLY, "peak", *never})):
            if action.dest in names:
                code, _, err = program("pgemm", mode, words_of(action))
                assert code == 2 and f"{action.option_strings[-1]}: does nothing" in err, err
