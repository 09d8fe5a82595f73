# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The grammar of machine strings that docs/reference/machine.md publishes: what it makes is accepted, it has the
words of the parser's table, and the examples beside it are machines."""
import random
import re

import pytest

from support import ROOT, tessera

PAGE = (ROOT / "docs/reference/machine.md").read_text(encoding="utf-8")
TOKEN = re.compile(r'\s*("[^"]*"|[a-z]+|[|{}\[\]()])')


def rules():
    """{name: tokens of its right side}, without number, count, device and blank, which are told in words."""
    block = re.search(r"```\n(machine +=.*?)```", PAGE, re.DOTALL)[1]
    found = {name: right for name, right in re.findall(r"^(\w+) += (.*?) ;$", block, re.MULTILINE | re.DOTALL)}
    return {name: TOKEN.findall(right) for name, right in found.items() if name not in ("number", "count", "device", "blank")}


RULES = rules()


class Writer:
    """Writes random sentences of the grammar."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.device = 1

    def rule(self, name):
        if name == "count":
            return "2"
        if name == "device":  # the machines have two, and a pair has both
            self.device = 1 - self.device
            return str(self.device)
        if name == "number":
            return self.random.choice(["25", "48.33", "1e2"])
        return self.choice(list(RULES[name]))

    def choice(self, tokens):
        """One of the alternatives between bars that stand in no brackets."""
        parts, depth = [[]], 0
        for token in tokens:
            depth += token in "([{"
            depth -= token in ")]}"
            if token == "|" and depth == 0:
                parts.append([])
            else:
                parts[-1].append(token)
        return self.row(self.random.choice(parts))

    def row(self, tokens):
        out = ""
        while tokens:
            token = tokens.pop(0)
            if token in "([{":  # what braces hold stands here once at most: machines of the tests have two devices
                inner = self.inside(tokens)
                out += self.choice(inner) if token == "(" or self.random.random() < 0.5 else ""
            else:
                out += token[1:-1] if token[0] == '"' else self.rule(token)
        return out

    @staticmethod
    def inside(tokens):
        """Takes the tokens up to the bracket that closes."""
        depth, inner = 1, []
        while True:
            token = tokens.pop(0)
            depth += (token in "([{") - (token in ")]}")
            if depth == 0:
                return inner
            inner.append(token)

    def machine(self):
        """Words in any order, each once; devices are always there, their memory is given once, and there is a
        link between sockets only if there are several."""
        names = [name for name in RULES["word"] if name != "|"]
        others = [n for n in names if n != "gpu" and self.random.random() < 0.4]
        words = [self.rule("gpu"), *(n[1:-1] if n[0] == '"' else self.rule(n) for n in others)]
        if ":" in words[0].split("@")[0]:
            words = [w for w in words if not w.startswith("mem:")]
        if not any(w.startswith("host*") for w in words):
            words = [w for w in words if not w.startswith("sockets:")]
        words = self.linked(words)
        self.random.shuffle(words)
        return " ".join(words)

    @staticmethod
    def linked(words):
        """The two devices are one pair, which linked names once, and unlinked then does not; links by count are
        those of @nvlink, and a switch has no links of pairs."""
        mine = [w.split(",")[0] for w in words if w.startswith("linked:")]
        others = [w for w in words if not w.startswith("linked:")]
        if not mine or "@nvswitch" in words[0] or ("=" not in mine[0] and "@nvlink" not in words[0]):
            return others
        return [w for w in others if not w.startswith("unlinked:")] + mine


@pytest.mark.parametrize("seed", range(40))
def test_sentences_are_machines(seed):
    text = Writer(seed).machine()
    shown = tessera("machine --json", "--machine", text).json()
    assert len(shown["devices"]) == 2, text


def test_the_words_are_those_of_the_parser():
    source = (ROOT / "src/machine/string.c").read_text(encoding="utf-8")
    table = re.search(r"static const word words\[WORDS\] = \{(.*?)\n\};", source, re.DOTALL)[1]
    words = {token.strip('"') for token in RULES["word"] if token != "|"}
    assert words == set(re.findall(r'\{"(\w+)"', table)) != set()


def test_examples_are_machines():
    block = re.search(r"### Examples\n\n```\n(.*?)```", PAGE, re.DOTALL)[1]
    lines = [re.split(r"\s{2,}", line)[0] for line in block.splitlines()]
    assert len(lines) >= 5
    for line in lines:
        tessera("machine", "--machine", line).ok()
