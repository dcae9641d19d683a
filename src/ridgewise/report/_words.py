# SPDX-License-Identifier: BSD-3-Clause
"""Names and numbers in tables and sentences."""


def one_line(text: object, longest: int) -> str:
    r"""Show any text on one short line, without control characters.

    >>> from ridgewise.report._words import one_line
    >>> one_line("a\nlong\x1b[31m name", 10)
    'a long [3…'
    """
    letters = (letter if letter.isprintable() else " " for letter in str(text))
    line = " ".join("".join(letters).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def plain_number(value: float) -> str:
    """Write a number with four significant digits; large ones without an exponent.

    >>> from ridgewise.report._words import plain_number
    >>> plain_number(18338.2), plain_number(0.123456)
    ('18,338', '0.1235')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"
