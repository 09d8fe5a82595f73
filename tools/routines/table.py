# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Reads the table of routines (src/blas/routines.def), for programs that write from it."""
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "src/blas/routines.def"
TYPES = {"ANY": "sdczhbt", "BLAS": "sdcz", "COMPLEX": "cz"}


@dataclass
class Argument:
    """A row of a list of arguments; TABLE says what stands behind the field."""

    kind: str
    name: str
    field: str
    rest: tuple

    @property
    def is_matrix(self):
        return self.kind in ("INPUT", "RESULT")


@dataclass
class Routine:
    """A row of the table of routines."""

    name: str
    operation: str
    signature: str
    family: str
    types: str  # letters
    alpha: str
    beta: str
    kernel: str
    in_blas: bool
    hermitian: bool
    text: str
    arguments: list

    def of_kind(self, *kinds):
        return [argument for argument in self.arguments if argument.kind in kinds]

    @property
    def flags(self):
        return [argument.name for argument in self.of_kind("FLAG")]

    @property
    def extents(self):
        return [argument.name for argument in self.of_kind("EXTENT")]

    @property
    def matrices(self):
        return self.of_kind("INPUT", "RESULT")

    @property
    def operands(self):
        """"abc", "ac" (syrk) or "ab" (trmm, whose B is read and written)."""
        return "".join(argument.name for argument in self.matrices)

    @property
    def result(self):
        return self.of_kind("RESULT")[0].name

    @property
    def has_beta(self):
        return self.beta != "NO"

    @property
    def has_triangle(self):
        """Whether C is square, and a triangle of it is written."""
        return "m" not in self.extents

    @property
    def blas_types(self):
        return [letter for letter in self.types if letter in "sdcz"]


def read():
    """The routines, in the order of the table."""
    text = TABLE.read_text(encoding="utf-8").replace("\\\n", " ")
    lists = {}
    for name, body in re.findall(r"^#define TSR_ARGUMENTS_(\w+)\(F, N, x\)(.*)$", text, re.MULTILINE):
        rows = [row.split(", ") for row in re.findall(r"[FN]\(x, ([^()]*)\)", body)]
        lists[name] = [Argument(row[0], row[1], row[2], tuple(row[3:])) for row in rows]
    body = re.search(r"^#define TSR_ROUTINES\(R\)(.*)$", text, re.MULTILINE)[1]
    routines = []
    for cells, what in re.findall(r'R\(([^"]*?),\s*"([^"]*)"\)', body):
        name, operation, signature, family, types, alpha, beta, kernel, in_blas, hermitian = cells.split(", ")
        routines.append(Routine(name, operation, signature, family, TYPES[types], alpha, beta, kernel,
                                in_blas == "true", hermitian == "true", what, lists[signature]))
    return routines
