# SPDX-License-Identifier: BSD-3-Clause
"""The demo as JSON."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ridgewise.evaluation import Demo


def demo_json(demo: Demo, plot: Path) -> str:
    """Write what the demo found as JSON."""
    return json.dumps(_contents(demo, plot), indent=2)


def _contents(demo: Demo, plot: Path) -> dict[str, Any]:
    return {
        "python_version": demo.python_version,
        "n_documents": demo.topics,
        "n_words": demo.n_words,
        "rank": demo.rank,
        "n_features": demo.n_features,
        "seed": demo.seed,
        "n_splits": demo.n_splits,
        "alpha": demo.alpha,
        "telling_words": demo.telling,
        "certificate": {**asdict(demo.certificate), "epsilon": demo.certificate.epsilon},
        "kept": {
            method: {"lower": float(kept[-1]), "upper": float(kept[0])}
            for method, kept in demo.kept.items()
        },
        "methods": [asdict(row) for row in demo.rows],
        "plot": str(plot),
    }
