# SPDX-License-Identifier: BSD-3-Clause
"""Modules that are imported, and that most commands never use: loaded at their first use.

scikit-learn imports scipy.stats, scipy.interpolate and pandas for a few functions. Together they
take longer to load than a small file takes to select from.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

LATE = (
    *("flint", "pandas", "scipy.interpolate", "scipy.stats", "matplotlib", "matplotlib.axes"),
    *("matplotlib.axis", "matplotlib.figure", "matplotlib.layout_engine", "matplotlib.ticker"),
)


@contextmanager
def late_modules() -> Iterator[None]:
    """Let stand-ins be imported within a block, in place of modules that are not loaded yet."""
    wanted = [
        name for name in LATE if name not in sys.modules and find_spec(name.partition(".")[0])
    ]
    stand_ins = [_LateModule(name) for name in wanted]
    sys.modules.update({module.__name__: module for module in stand_ins})
    try:
        yield
    finally:
        for module in stand_ins:
            module.is_open = False
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]


class _LateModule(ModuleType):
    """Stands for a module: its names are stand-ins while modules are imported, then its own."""

    is_open = True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by the import system
            raise AttributeError(name)
        if self.is_open:
            return _LateName(self.__name__, name)
        return _load(self.__name__, name)


class _LateName:
    """Stands for a function or an object that ``from module import name`` asks for."""

    def __init__(self, module: str, name: str) -> None:
        self._of = module, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _load(*self._of)(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(_load(*self._of), name)


def _load(module: str, name: str) -> Any:
    """A name of a module, which may be a submodule that is not loaded."""
    loaded = import_module(module)
    return getattr(loaded, name) if hasattr(loaded, name) else import_module(f"{module}.{name}")
