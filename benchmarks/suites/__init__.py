# SPDX-License-Identifier: BSD-3-Clause
"""Suites for airspeed velocity, which follows times and memory from commit to commit.

    pip install asv
    asv run --python=same --quick          this checkout, each benchmark once
    asv continuous HEAD~1 HEAD             a commit against the one before it
    asv publish && asv preview             what was measured, as a site

``asv.conf.json`` says where things lie. The first value of every parameter is the smallest: the
tests run each benchmark with it.
"""
