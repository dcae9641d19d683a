# SPDX-License-Identifier: BSD-3-Clause
"""The version, which every room may use."""

__version__ = "0.1.0.dev0"
