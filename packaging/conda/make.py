# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A matrix for the recipe's test."""
import numpy as np

np.save("a.npy", np.random.default_rng(1).standard_normal((500, 500)))
