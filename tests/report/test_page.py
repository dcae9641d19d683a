# SPDX-License-Identifier: BSD-3-Clause
"""Pages are one file, show what was found, and take names for names."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from markupsafe import Markup

from ridgewise import BSSSelector, RandomSelector, compare
from ridgewise.evaluation import run_selection, summarize
from ridgewise.report import alpha_note, selection_page
from ridgewise.report._comparison import draw_errors
from ridgewise.report._figures import as_svg, new_figure, plain_label
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._selection import explain_certificate

HOSTILE = "<script>document.title = 'hostile'</script>"


class Reader(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(params=["selection_html", "comparison_html"])
def page(request):
    return request.getfixturevalue(request.param)


def test_nothing_is_loaded(page):
    addresses = [
        value
        for _, name, value in Reader(page).attributes
        if name in ("src", "href", "srcset", "action", "data", "poster")
    ]
    assert all(address.startswith("#") for address in addresses)
    assert "://" not in page
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "")


def test_policy_allows_this_script_only(page):
    reader = Reader(page)
    assert reader.tags.count("script") == 1
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline" not in re.search("script-src[^;]*", policy)[0]


def test_names_are_names(page):
    assert HOSTILE not in page
    assert "&lt;script&gt;document.title" in page
    assert not [name for _, name, _ in Reader(page).attributes if name.startswith("on")]


def test_ids_are_unique_and_references_lead_somewhere(page):
    attributes = Reader(page).attributes
    ids = [value for _, name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    pointers = [value[1:] for _, name, value in attributes if name == "href"]
    pointers += re.findall(r"url\(#([^)]*)\)", page)
    pointers += [value for _, name, value in attributes if name == "aria-labelledby"]
    assert set(pointers) <= set(ids)


def test_figures_have_words(page):
    labels = [
        value
        for tag, name, value in Reader(page).attributes
        if (tag, name) == ("svg", "aria-label")
    ]
    assert len(labels) == Reader(page).tags.count("svg") >= 4
    assert all(len(label) > 20 for label in labels)


def test_selection_is_told(selection_html, selection_run):
    assert "40 of 300 features, selected by BSS" in selection_html
    for _, index, order, *_ in selection_run.rows:
        assert f'data-value="{index}"' in selection_html
        assert f'data-value="{order}"' in selection_html
    explanation = explain_certificate(selection_run)
    assert f"{selection_run.certificate.lower:.3g}" in explanation
    assert str(Markup.escape(explanation)) in selection_html


def test_tall_data_has_no_picture_of_leverage_scores(table):
    """With more samples than features all are about 1."""
    X = np.random.default_rng(0).normal(size=(60, 20)) @ np.diag(np.arange(1.0, 21))
    for data, shown in ((X, False), (X[:15], True)):
        names = np.array([f"x{place}" for place in range(20)])
        run = run_selection(BSSSelector(9, center=True), data, feature_names=names)
        page = selection_page(run, table, title="tall")
        assert ("Leverage scores of all features" in page) == shown


def test_every_method_is_within_the_picture_of_a_comparison(table):
    """With nine methods beside each other the first and the last were cut off."""
    selectors = {f"method {place}": RandomSelector(random_state=place) for place in range(9)}
    counts = {"n_features": [10, 60], "n_splits": 2, "n_repeats": 1}
    found = compare(selectors, table.X, table.y, **counts)
    axes = draw_errors(found, summarize(found)).axes[0]
    low, high = axes.get_xlim()
    x = np.concatenate([line.get_xdata() for line in axes.lines[:-1]])  # but for all features
    assert low < x.min() < 10
    assert 60 < x.max() < high


def test_explanation_is_three_sentences_and_names_random_features(selection_run):
    explanation = explain_certificate(selection_run)
    assert len(re.findall(r"\.(?= [A-Z]|$)", explanation)) == 3
    assert f"random features {selection_run.random.lower:.3g} to" in explanation


def test_comparison_answers_first(comparison_html):
    body = comparison_html[comparison_html.index("<main") :]
    texts = [text.strip() for text in Reader(body).texts if text.strip()]
    assert re.fullmatch(r"\d+ features by .* (do|come) .* all 300", texts[0])
    assert "paired test" in texts[1] or "no difference" in texts[1]


def test_missing_values_in_tables():
    table = DataTable(
        [Column("name"), Column("value", "{:.1f}")], [("a", None), ("b", float("nan"))]
    )
    html = render_parts("{{ parts.data_table(table) }}", table=table)
    assert html.count('data-value=""') == 2
    assert html.count("&ndash;") == 2


def test_figures_keep_matplotlib_as_it_was_and_follow_the_page():
    with new_figure(2, 2) as figure:
        axes = figure.subplots()
        axes.plot([1, 2], color="#0b5fa5")
        axes.set_title(plain_label("$\\alpha </svg><script>"))
    svg = as_svg(figure, 'a "label" <b>')
    assert "var(--blue)" in svg
    assert "#0b5fa5" not in svg
    assert "&lt;/svg&gt;&lt;script&gt;" in svg
    assert 'aria-label="a &quot;label&quot; &lt;b&gt;"' in svg
    assert "xmlns" not in svg
    assert svg == as_svg(figure, 'a "label" <b>')
    other = as_svg(figure, "another")
    assert set(re.findall(' id="([^"]*)"', other)) == set(re.findall(' id="([^"]*)"', svg))


def render_parts(source, **context):
    from ridgewise.report._html import _environment

    head = '{% import "parts.html.j2" as parts %}'
    return _environment().from_string(head + source).render(context)


def test_unknown_names_in_templates_are_errors():
    with pytest.raises(Exception, match="undefined"):
        render_page("selection.html.j2")


@pytest.mark.parametrize(
    ("edge", "relative", "words"),
    [
        ("smallest", 1e-8, "smallest that was tried for BSS: smaller ones may be better"),
        ("", 1e-8, "1e-08 is the smallest that was tried; the error hardly changes there"),
        ("", 1e5, "1e+05 is the largest that was tried; the error hardly changes there"),
    ],
)
def test_alpha_at_an_end_of_the_grid_is_said(edge, relative, words):
    row = SimpleNamespace(method="bss", alpha_edge=edge, alpha_relative=relative)
    assert words in alpha_note(SimpleNamespace(alphas=None), [SimpleNamespace(row=row)])
