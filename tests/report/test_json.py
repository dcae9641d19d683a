# SPDX-License-Identifier: BSD-3-Clause
"""What programs read is what was found."""

import json
from pathlib import Path

from ridgewise.report import demo_record, to_json


def test_round_trip(demo):
    found = json.loads(to_json(demo_record(demo, Path("demo.png"))))
    assert found["plot"] == "demo.png"
    assert found["n_documents"] == demo.topics
    assert found["telling_words"] == demo.telling
    assert [row["method"] for row in found["methods"]] == [row.method for row in demo.rows]
    assert [row["error_mean"] for row in found["methods"]] == [row.error_mean for row in demo.rows]
    assert found["certificate"]["lower"] == found["kept"]["BSS"]["lower"] == 0.5
    assert found["certificate"]["epsilon"] == 0.5
