# SPDX-License-Identifier: BSD-3-Clause
"""Build hook: compile the draws of the barrier method if there is a C compiler.

Nothing depends on it: without a compiler, or with RIDGEWISE_PURE=1 in the environment, the package
is pure Python and selects the same features. CC names another compiler than cc, gcc or clang.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

SOURCE = Path("src/ridgewise/barrier/_draws.c")
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
FLAGS = (
    *("-std=c11", "-O3", "-fopenmp-simd", "-fPIC", "-shared"),
    # sums in any order, and fused with products; NaN and infinities keep their meaning
    *("-ffp-contract=fast", "-fassociative-math", "-fno-signed-zeros"),
    *("-fno-trapping-math", "-fno-math-errno"),
)


class CompileDraws(BuildHookInterface):
    """Build hook that hatchling runs for wheels and editable installs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the library and add it to the wheel, which gets a platform tag."""
        source = Path(self.root, SOURCE)
        self.scratch = tempfile.TemporaryDirectory()
        compiled = Path(self.scratch.name, f"libdraws{SUFFIX}")
        reason = compile_library(source, compiled)
        if version == "editable":  # the package is imported from its source
            reason = put_beside(source, None if reason else compiled) or reason
        elif not reason:
            build_data["force_include"][str(compiled)] = f"ridgewise/barrier/{compiled.name}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{next(sys_tags()).platform}"
        if reason:
            self.app.display_warning(f"ridgewise is installed without compiled draws: {reason}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        self.scratch.cleanup()


def put_beside(source: Path, compiled: Path | None) -> str:
    """Install or remove the library beside its source; return the error message, or ""."""
    library, partial = source.with_name(f"libdraws{SUFFIX}"), source.with_name("draws.partial")
    try:
        if compiled is None:
            library.unlink(missing_ok=True)
        else:  # atomic: the library may be in use
            shutil.copy(compiled, partial)
            partial.replace(library)
    except OSError as error:
        return f"it could not be put beside {source.name}: {error}"
    return ""


def compile_library(source: Path, library: Path) -> str:
    """Compile a shared library; return the error message, or ""."""
    if os.environ.get("RIDGEWISE_PURE", "0") != "0":
        return "RIDGEWISE_PURE is set"
    compiler = (
        shlex.split(os.environ.get("CC", ""))
        or [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    )
    if not compiler:
        return "there is no C compiler (cc, gcc, clang, or the one that CC names)"
    flags = [*FLAGS, *shlex.split(os.environ.get("ARCHFLAGS", ""))]
    command = [*compiler, *flags, "-o", str(library), str(source), "-lm"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"{compiler[0]} could not be run: {error}"
    if run.returncode != 0:
        return f"{shlex.join(command)} failed:\n{run.stderr.strip()}"
    return ""
