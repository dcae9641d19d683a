# SPDX-License-Identifier: BSD-3-Clause
"""The certificate of a selection: what it promised, and what was measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """How well the selected features, weighted, stand for all: lower K <= K~ <= upper K.

    K = X X^T is the kernel of all features and K~ that of the selected ones times their weights.
    Both bounds are 1 where nothing is lost.

    Attributes
    ----------
    lower, upper : float
        Measured: the extreme eigenvalues of U^T R^T R U, computed anew from the weights.
    promised_lower, promised_upper : float or None
        What the method promises beforehand; None where it promises nothing.
    confidence : float
        The probability with which the promise holds: 1 for a deterministic method.
    """

    lower: float
    upper: float
    promised_lower: float | None = None
    promised_upper: float | None = None
    confidence: float = 1.0

    @property
    def epsilon(self) -> float:
        """The smallest epsilon with (1 - epsilon) K <= K~ <= (1 + epsilon) K, as measured."""
        return max(1 - self.lower, self.upper - 1, 0.0)

    def __str__(self) -> str:
        lines = [f"{name:<9}[{lower}, {upper}]" for name, lower, upper in self._rows()]
        return "\n".join([*lines, f"epsilon  {self.epsilon:.4f}"])

    def _rows(self) -> list[tuple[str, str, str]]:
        """The table that is printed: name, lower, upper."""
        rows = [("measured", f"{self.lower:.4f}", f"{self.upper:.4f}")]
        if self.promised_upper is not None and self.promised_lower is not None:
            rows.append(("promised", f"{self.promised_lower:.4f}", f"{self.promised_upper:.4f}"))
        return rows

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><th>{name}</th><td>{lower}</td><td>{upper}</td></tr>"
            for name, lower, upper in self._rows()
        )
        return (
            "<table><thead><tr><th></th><th>lower</th><th>upper</th></tr></thead>"
            f"<tbody>{body}<tr><th>epsilon</th><td colspan=2>{self.epsilon:.4f}</td></tr></tbody>"
            "</table>"
        )
