#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The site of docs/ in build-docs/html, by Sphinx, which is fetched into build-docs/venv. A broken link, or anything
# else that Sphinx warns of, fails.
set -eu
cd "$(dirname "$0")/.."
venv=build-docs/venv
[ -x $venv/bin/python ] || "${PYTHON:-python3}" -m venv $venv
if ! cmp -s docs/requirements.txt $venv/installed; then
  $venv/bin/pip install -q --disable-pip-version-check -r docs/requirements.txt
  cp docs/requirements.txt $venv/installed
fi
$venv/bin/sphinx-build -b html -W --keep-going -q docs build-docs/html
echo "build-docs/html/index.html"
