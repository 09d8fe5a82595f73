# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The glossary, docs/reference/words.md: it has the words of the project that are used, and no others; names
that were replaced do not come back."""
import re

import pytest

from support import ROOT

CODE = {".c", ".h", ".cu", ".def", ".map", ".py"}
# CHANGELOG.md tells what was done, in the words of the time.
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md",
         *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name != "words.md")]

# Words that were replaced, what to say instead, and the names that keep them. A word is a part of an
# identifier (tsr_slab_first has slab), or a pattern for whole identifiers if it has a "*".
RETIRED = [
    (["slab", "slabs"], "k-panel (k_panel)", []),
    (["tsr_*chunk*"], "n-block (n_block), or piece", []),
    (["tsr_*_hold", "tsr_*_holds", "tsr_holds*", "hold_of"], "C block (c_block)", []),
    (["corner", "corners"], "leading block (leading)", []),
    (["recipe", "recipes"], "strategy", []),
    (["climb", "climbs"], "descent or local search", []),
    (["winds"], "serpentine", []),
    (["homing"], "write-back (write_back)", []),
    (["cargo", "cargos"], "transfer", []),
    (["tsr_room*", "tsr_*_room", "tsr_*_rooms", "tsr_*_room_*", "*_ROOM_*"],
     "cached block (cached_block), if it stays on a device", ["*cpu_*room*", "*_CPU_ROOM_H"]),
    (["stay", "tsr_stays*", "tsr_*_stays"], "entry of the store, or cached block", []),
    (["lodging", "lodgings"], "allocation", []),
    (["errand", "errands"], "asynchronous operation (async_op)", []),
    (["lane"], "staging queue or staging thread (staging)", []),
    (["ticket", "tickets"], "job", []),
    (["imagine", "imagined"], "model-only grid (model_only)", ["tsr_grid_imagine*"]),
    (["apart"], "realign, or disjoint", []),
]

# The same in pages, where room, hold, stay, apart and the like are plain English.
RETIRED_IN_PAGES = {
    r"slabs?": "k-panel", r"chunks?": "n-block, or piece", r"holds? of C": "C block",
    r"recipes?": "strategy", r"climb(s|ed|ing)?": "descent", r"homing": "write-back",
    r"cargos?": "transfer", r"lodgings?": "allocation", r"errands?": "asynchronous operation",
    r"lanes?": "staging queue, or staging thread", r"tickets?": "job", r"rooms": "cached blocks",
    r"imagined": "model-only", r"corners?": "leading block",
}

# What types of the public headers and of the planner are called in plain English, or in the words of
# C and the BLAS: the last word of a type's name is one of these, or stands in the glossary.
PLAIN = set("""
    access accumulation algebra axes blocking bounds buffer busy cache cell context dense diag
    element end fact field figure fit forced format formula holding index kind known layout level3
    load measured memory name op option order part prediction problem question range reading
    place rect role routing rule search set setting side solve space stage status tenancy trace traffic tried type
    uplo use walk way
""".split())


def rows():
    """The words of the glossary, in the order of the page."""
    page = (ROOT / "docs/reference/words.md").read_text()
    return [m[1].strip() for m in re.finditer(r"^\| ([^|]+) \| [^|]+\|$", page, re.MULTILINE)
            if m[1].strip() not in ("word", "---")]


def sources(*folders):
    return sorted(p for folder in folders for p in (ROOT / folder).rglob("*") if p.suffix in CODE)


def code_of(path):
    """A file without comments and strings; they keep their lines."""
    text = path.read_text(errors="replace")
    if path.suffix == ".py":
        text = re.sub(r'"""(.*?)"""', lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
        return re.sub(r'#[^\n]*|"[^"\n]*"', "", text)
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r'//[^\n]*|"(\\.|[^"\\\n])*"', "", text)


def where(path, text, at):
    return f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, at) + 1}"


def identifiers():
    """Identifiers of the code, each with the place where it comes first in its file."""
    for path in sources("src", "include", "tools", "bench"):
        text, seen = code_of(path), set()
        for found in re.finditer(r"[A-Za-z_]\w*", text):
            if found[0] not in seen:
                seen.add(found[0])
                yield found[0], where(path, text, found.start())


def matches(pattern, name):
    if "*" in pattern:
        return re.fullmatch(pattern.replace("*", ".*"), name) is not None
    return pattern in name.lower().split("_")


def test_glossary_is_sorted_out():
    words = rows()
    assert len(words) > 50, "docs/reference/words.md: its tables were not found"
    twice = sorted({w for w in words if words.count(w) > 1})
    assert not twice, f"docs/reference/words.md has these twice; a word means one thing: {twice}"


def test_glossary_words_are_used():
    used = "\n".join(p.read_text(errors="replace") for p in sources("src", "include") + PAGES)
    used = re.sub(r"\s+\*?\s*|_|-", " ", used).lower()
    unused = [w for w in rows()
              if not re.search(rf"\b{re.escape(w.lower().replace('-', ' '))}", used)]
    assert not unused, ("docs/reference/words.md explains words that neither src/, include/ nor docs/ uses; "
                        f"take them out, or find what the code says instead: {unused}")


def test_retired_names_stay_away():
    found = []
    for name, place in identifiers():
        for old, new, kept in RETIRED:
            if any(matches(k, name) for k in kept):
                continue
            if any(matches(o, name) for o in old):
                found.append(f"{place}: {name}: say {new}")
    assert not found, "names with words that were replaced; rename them:\n" + "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_retired_words_stay_out_of_pages(page):
    text, found = page.read_text(), []
    for old, new in RETIRED_IN_PAGES.items():
        for at in re.finditer(rf"\b{old}\b", text, re.IGNORECASE):
            found.append(f"{where(page, text, at.start())}: {at[0]}: say {new}")
    assert not found, "words that were replaced; write the others:\n" + "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_pages_name_files_that_exist(page):
    here = {p.name for folder in ("src", "include", "tools", "bench", "tests", "examples", "cmake",
                                  "machines") for p in (ROOT / folder).rglob("*")}
    text = page.read_text()
    named = set(re.findall(r"[`/]([\w-]+\.(?:c|h|cu|def|py|sh|cmake))\b", text))
    shown = set(re.findall(r"<!-- file: (\S+) -->", text))  # the page has them whole
    gone = sorted(named - here - shown - {"program.c", "script.py"})  # these stand for the user's own
    assert not gone, f"{page.name} names files that are not there; name the new ones: {gone}"


def test_types_are_called_by_words_of_the_glossary():
    """The last word of a struct's or an enum's name says what the thing is."""
    words = {part for word in rows() for part in re.split(r"[ -]", word.lower())}
    known, found = words | PLAIN, []
    for path in sources("include", "src/plan"):
        if path.suffix != ".h":
            continue
        text = code_of(path)
        for at in re.finditer(r"\b(?:struct|enum) tsr_(\w+)", text):
            last = at[1].split("_")[-1]
            forms = {last, re.sub(r"s$", "", last), re.sub(r"ies$", "y", last),
                     re.sub(r"^p", "", last)}  # tsr_pplan is a plan across processes
            if not forms & known:
                found.append(f"{where(path, text, at.start())}: tsr_{at[1]}: {last}")
    assert not found, (
        "types whose last word is not in docs/reference/words.md. If the word has a meaning of the project's "
        "own, add it to the glossary; if it is plain English, to PLAIN in tests/tool/test_words.py; "
        "if it is another name for something in the glossary, rename the type:\n"
        + "\n".join(sorted(set(found))))
