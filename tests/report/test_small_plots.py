# SPDX-License-Identifier: BSD-3-Clause
"""The plots that are drawn without matplotlib."""

import re

import numpy as np
import pytest

from ridgewise import BSSSelector
from ridgewise.evaluation import run_selection
from ridgewise.guarantees import Certificate
from ridgewise.report import _selection_figures as figures
from ridgewise.report._plot import WIDTH, Plot, Scale


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Scale(0, 1.9), [0, 0.5, 1, 1.5]),
        (Scale(-0.6, 21), [0, 5, 10, 15, 20]),
        (Scale(0.8, 60, logarithmic=True), [1, 2, 5, 10, 20, 50]),
        (Scale(0.9, 2e4, logarithmic=True), [1, 10, 100, 1000, 10000]),
        (Scale(1040, 1390, logarithmic=True), [1100, 1200, 1300]),  # no 1, 2 or 5 in it
        (Scale(1e-12, 1e8, logarithmic=True), [10.0**power for power in range(-12, 8, 3)]),
    ],
)
def test_ticks_are_round_and_few(scale, ticks):
    np.testing.assert_allclose(scale.ticks(), ticks, atol=1e-15)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_every_scale_has_ticks(logarithmic):
    for low in np.geomspace(1e-9, 1e9, 61):
        for ratio in np.geomspace(1.05, 1e6, 40):
            ticks = np.array(Scale(low, ratio * low, logarithmic).ticks())
            assert 2 <= len(ticks) <= 10
            assert np.all((ticks >= 0.999 * low) & (ticks <= 1.001 * ratio * low))


def test_scales():
    np.testing.assert_allclose(Scale(10, 0).place([10, 5, 0]), [0, 0.5, 1])
    np.testing.assert_allclose(Scale(1, 100, logarithmic=True).place([1, 10, 100]), [0, 0.5, 1])


def test_labels_of_the_lower_axis_do_not_overlap():
    plot = Plot(Scale(1, 1e7, logarithmic=True), Scale(0, 1), 100)
    plot.x_axis(plot.x.ticks(), [f"{tick:.10g}" for tick in plot.x.ticks()])
    found = [part for part in plot.parts if "<text" in part]
    assert ">10<" in found[1]
    assert len(found) < len(plot.x.ticks())


@pytest.mark.parametrize(("upper", "labels"), [(1.5, ["1", "0"]), (4, ["1", "0"]), (60, ["1"])])
def test_perfect_is_marked_however_wide_the_interval(upper, labels):
    plot = figures.draw_certificate([("measured", Certificate(lower=0.2, upper=upper))])
    found = [part for part in plot.parts if "text-anchor: middle" in part]
    assert [re.search(">(.*)<", part)[1] for part in found] == labels


def test_numbers_are_right_of_the_line_at_1():
    plot = figures.draw_certificate([("measured", Certificate(lower=0.01, upper=0.2))])
    words = next(part for part in plot.parts if "0.01 to 0.2" in part)
    assert float(re.search('x="(.*?)"', words)[1]) > plot.points(1, 0)[0][0]


def test_words_are_escaped():
    plot = Plot(Scale(0, 1), Scale(0, 1), 100, "<script>")
    plot.y_axis([0.5], ['"&'])
    assert "<script>" not in plot.svg('"><b>')
    assert "<b>" not in plot.svg('"><b>')


def points(svg):
    """The points of the lines and shapes, and the ends of the texts, about."""
    paths = "".join(re.findall(r' d="([^"]*)"', svg))
    yield from ((float(x), float(y)) for x, y in re.findall(r"([-\d.]+) ([-\d.]+)", paths))
    for x, y, anchor, words in re.findall(
        r'<text x="([-\d.]+)" y="([-\d.]+)" style="[^"]*anchor: (\w+)[^"]*">([^<]*)<', svg
    ):
        width = 5 * len(words)
        shift = {"start": width, "end": -width, "middle": width / 2}[anchor]
        yield float(x) + shift, float(y)


@pytest.mark.parametrize("shape", [(30, 400), (60, 12), (3, 40)])
def test_everything_is_within_the_picture(shape):
    X = np.random.default_rng(0).normal(size=shape) * np.logspace(0, 3, shape[1])
    names = np.array([f"a feature with a long name {place}" for place in range(shape[1])])
    run = run_selection(BSSSelector(5, center=True), X, feature_names=names)
    rows = [("measured, verified", Certificate(1.234e-5, 123.0)), ("random features", run.random)]
    draws = ("leverage", "singular_values", "parts", "correlations")
    drawn = [getattr(figures, f"draw_{draw}")(run) for draw in draws]
    for plot in [figures.draw_certificate(rows), *drawn]:
        x, y = np.transpose(list(points(plot.svg("a label"))))
        assert x.min() >= 0
        assert x.max() <= WIDTH
        assert y.min() >= 0
        assert y.max() <= plot.height
