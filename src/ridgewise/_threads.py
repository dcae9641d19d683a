# SPDX-License-Identifier: BSD-3-Clause
"""Limit BLAS to one thread where more are slower."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS and LAPACK use one thread.

    For matrices of a few hundred rows, synchronizing threads costs more than it gains, above all
    on a busy machine.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    """The loaded BLAS libraries; finding them takes milliseconds."""
    return ThreadpoolController()
