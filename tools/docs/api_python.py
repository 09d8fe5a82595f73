#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The Python interface as a page for the site, from the docstrings, without importing the package.
Usage: api_python.py FOLDER; writes FOLDER/api-python.md."""
import ast
import inspect
import re
import sys
from pathlib import Path

from api import escaped

PACKAGE = Path(__file__).resolve().parents[2] / "bindings/python/tessera"


def definitions():
    """{name: its class or function}, of all modules of the package."""
    found = {}
    for path in sorted(PACKAGE.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found.setdefault(node.name, node)
    return found


def public_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    raise ValueError("bindings/python/tessera/__init__.py has no __all__")


def prose(node):
    """A docstring as Markdown: what is indented in it is code."""
    parts = inspect.cleandoc(ast.get_docstring(node) or "").split("\n\n")
    return "\n\n".join(f"```python\n{inspect.cleandoc(part)}\n```" if part.startswith("    ") else escaped(part)
                       for part in parts)


def signature(node, method=False):
    arguments = ast.unparse(node.args)
    if method:
        arguments = re.sub(r"^self(, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"```python\n{node.name}({arguments}){returns}\n```\n\n"


def is_property(node):
    return any(getattr(d, "id", "") in ("property", "cached_property") for d in node.decorator_list)


def members(node):
    """The public methods and properties of a class, and the constructor."""
    out = []
    for part in node.body:
        if not isinstance(part, ast.FunctionDef) or (part.name.startswith("_") and part.name != "__init__"):
            continue
        if part.name == "__init__" and not ast.get_docstring(part) and not part.args.args[1:]:
            continue
        name = node.name if part.name == "__init__" else part.name
        shown = "" if is_property(part) else signature(part, True).replace("__init__", node.name, 1)
        out.append(f"#### {node.name}.{name}\n\n{shown}{prose(part)}\n\n" if part.name != "__init__"
                   else f"{shown}{prose(part)}\n\n")
    return "".join(out)


def section(node):
    if isinstance(node, ast.ClassDef):
        return f"### {node.name}\n\n{prose(node)}\n\n{members(node)}"
    return f"### {node.name}\n\n{signature(node)}{prose(node)}\n\n"


def module(name):
    """A module of the package that is public itself, and its functions."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return f"### {name}\n\n{prose(tree)}\n\n" + "".join(
        f"#### {name}.{node.name}\n\n{signature(node)}{prose(node)}\n\n" for node in functions)


def page():
    """The routines first, then functions, classes, modules and errors."""
    known, names = definitions(), public_names()
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    functions = [known[n] for n in names if isinstance(known.get(n), ast.FunctionDef)]
    classes = [known[n] for n in names if isinstance(known.get(n), ast.ClassDef) and n != "Routines"]
    errors = [node for node in classes if node.name.endswith(("Error", "Warning"))]
    others = [node for node in classes if node not in errors]
    return "".join([
        f"# The Python interface\n\nThis page is made from the docstrings of `tessera`.\n\n{prose(tree)}\n\n",
        "## Routines\n\nEach is a function of the module, and a method of a context, a composition and a plan's maker.\n\n",
        section(known["Routines"]), "## Functions\n\n", *map(section, functions),
        "## Classes\n\n", *map(section, others),
        "## Modules\n\n", *(module(n) for n in names if n not in known and (PACKAGE / f"{n}.py").exists()),
        "## Errors\n\n", *map(section, errors)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    (Path(sys.argv[1]) / "api-python.md").write_text(page(), encoding="utf-8")
