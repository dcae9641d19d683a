# SPDX-License-Identifier: BSD-3-Clause
"""Feature selection for ridge regression, with guarantees that are stated and checked."""

__version__ = "0.1.0.dev0"
