# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The site: make docs. Pages are plain Markdown, as they are read on the web; what only Sphinx needs is here."""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

project = "Tessera"
author = "The Tessera authors"
root_doc = "index"
extensions = ["myst_parser"]
exclude_patterns = ["requirements.txt"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page may begin at any level of headings
html_theme = "furo"
html_title = "Tessera"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

header = (ROOT / "include/tessera.h").read_text(encoding="utf-8")
release = ".".join(re.search(rf"TSR_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))

# The order of the pages of each shelf; those that are not named follow.
SHELVES = {
    "Tutorial": ["tutorial/first-hour"],
    "How-to": ["howto/blas-programs", "howto/python", "howto/cpp", "howto/fortran",
               "howto/verdict", "howto/device-matrices", "howto/compose", "howto/same-bits", "howto/budget",
               "howto/see-machine", "howto/described-machine", "howto/read-timeline", "howto/several-processes", "howto/scalapack",
               "howto/slurm", "howto/containers", "howto/tune-machine"],
    "Reference": ["reference/api", "reference/api-mpi", "reference/api-python", "reference/command", "reference/settings",
                  "reference/machine", "reference/statuses"],
    "Explanation": ["explain/plan", "explain/floor", "explain/search", "explain/memory",
                    "explain/composition", "explain/cluster", "explain/doors"],
    "Results": ["results/index", "results/h200x4", "results/h200x2", "results/predictions", "results/errors"],
    "Papers": ["papers/index"],
}
FOLDERS = {"Tutorial": "tutorial", "How-to": "howto", "Reference": "reference", "Explanation": "explain",
           "Results": "results", "Papers": "papers"}


def contents(docs):
    """The tree of pages, as directives behind the index."""
    for title, first in SHELVES.items():
        names = sorted(str(p.relative_to(docs).with_suffix("")) for p in (docs / FOLDERS[title]).glob("*.md"))
        order = [name for name in first if name in names] + [name for name in names if name not in first]
        yield f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(order) + "\n```\n"


def add_contents(app, name, source):
    if name == root_doc:
        source[0] += "".join(contents(Path(app.srcdir)))


def make_interface(app):
    """Pages that are made for the site alone."""
    for maker in ("api.py", "api_python.py"):
        subprocess.run([sys.executable, "-B", ROOT / "tools/docs" / maker, Path(app.srcdir) / "reference"], check=True)


def setup(app):
    app.connect("builder-inited", make_interface)
    app.connect("source-read", add_contents)
