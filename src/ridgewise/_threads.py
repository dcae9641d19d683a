# SPDX-License-Identifier: BSD-3-Clause
"""One BLAS thread where more would only hinder."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Within it, BLAS and LAPACK keep to one thread.

    On matrices of a few hundred rows threads cost more than they bring, and on a busy machine they
    wait for each other.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    """The libraries at hand, looked for once: that takes milliseconds."""
    return ThreadpoolController()
