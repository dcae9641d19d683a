# SPDX-License-Identifier: BSD-3-Clause
"""Whether an installed Ridgewise works: select, certify, predict, and the command's one line."""

import subprocess
import sys

import ridgewise
import ridgewise.barrier._compiled

X, y = ridgewise.make_ridge_synthetic(random_state=0)
selector = ridgewise.BSSSelector(120, rule="slack", polish=True).fit(X)
certificate = ridgewise.certify(X, selector)
assert certificate.verified, certificate
assert certificate.promised_lower <= certificate.lower, certificate
assert ridgewise.RLSClassifier().fit(selector.transform(X), y).score(selector.transform(X), y) > 0.9

command = subprocess.run(
    [sys.executable, "-m", "ridgewise", "demo"], capture_output=True, text=True, check=False
)
assert command.returncode != 0, "without its extra, the command cannot work"
assert "ridgewise[cli]" in command.stderr, command.stderr
draws = "compiled" if ridgewise.barrier._compiled.draw_ahead else "by NumPy"
print(f"ridgewise {ridgewise.__version__} in {ridgewise.__file__}, draws {draws}")
print(certificate)
