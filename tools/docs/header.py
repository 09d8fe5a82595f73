# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Reads a public header of ours: its sections, and in each the declarations with the comment before."""
import re
from pathlib import Path

SECTION = re.compile(r"/\* -{4,} (.*?) -{2,} \*/")


class Item:
    """A comment and the declarations behind it, one of which may be lacking."""

    def __init__(self, text, code):
        self.text, self.code = text, code

    def names(self):
        """The names that the code declares, in its order."""
        code = re.sub(r"/\*.*?\*/", "", self.code, flags=re.DOTALL)
        found = re.findall(r"^#define (TSR_\w+)|^TSR_TYPED_\w+\((tsr_\w+),|\b(tsr_\w+)\(|"
                           r"^typedef .*\(\*(tsr_\w+)\)|^(?:\} |typedef struct \w+ )(tsr_\w+);|"
                           r"^typedef enum tsr_\w+ \{[^}]*\} (tsr_\w+);", code, re.MULTILINE)
        names = [next(filter(None, groups)) for groups in found]
        return list(dict.fromkeys(names))


def plain(comment):
    """The text of a comment: without its stars, paragraphs and lists as they stand."""
    body = re.sub(r"^/\*+ ?|\s*\*/$", "", comment.strip())
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in body.split("\n")]
    return "\n".join(lines).strip("\n")


def is_noise(code):
    """Guards, includes and what the compiler alone needs."""
    return re.match(r"#(ifndef TESSERA_|include|ifdef __cplusplus|endif|if defined)|extern|\}\s*$|"
                    r"#define (TESSERA_\w*H|TSR_API)|#else", code.strip()) is not None


def blocks(text):
    """Comments that begin a line, and code up to the next blank line or such comment."""
    pattern = re.compile(r"^/\*.*?\*/[ \t]*\n|^(?!/\*)\S.*?(?=\n\s*\n|\n/\*|\Z)", re.DOTALL | re.MULTILINE)
    for match in pattern.finditer(text):
        yield match[0].rstrip(), text[match.end():match.end() + 1] == "\n"


def read(path):
    """(preface, [(title, [Item])]): the first comment behind the licence's, and the sections."""
    text = Path(path).read_text(encoding="utf-8")
    preface, sections, comment = None, [], None
    for block, ends in blocks(text):
        title = SECTION.fullmatch(block)
        if title:
            sections.append((title[1], []))
        elif block.startswith("/*"):
            comment = plain(block)
            if comment.startswith("SPDX-"):
                comment = None
            elif preface is None:
                preface, comment = comment, None
            elif ends and sections:
                sections[-1][1].append(Item(comment, ""))
                comment = None
        elif is_noise(block):
            comment = None
        elif sections:
            sections[-1][1].append(Item(comment or "", block))
            comment = None
    return preface, sections
