# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Reads the recipe and renders it, as rattler-build does before it builds: what CI can do without conda's channels."""
from pathlib import Path

from rattler_build import Stage0Recipe, VariantConfig

HERE = Path(__file__).resolve().parent
recipe = Stage0Recipe.from_file(str(HERE / "recipe.yaml"))
for variant in recipe.render(VariantConfig.from_file(str(HERE / "variants.yaml"))):
    print(variant)
