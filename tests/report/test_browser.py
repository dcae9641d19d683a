# SPDX-License-Identifier: BSD-3-Clause
"""The pages in a real browser: they work, at any width, and names in them do nothing."""

import csv
import os
import shutil

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = pytest.mark.browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = (
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAGES = ("selection", "subset", "comparison")
WIDTHS = {"phone": 390, "desktop": 1280}
ROWS = "section:has(#features) tbody tr:not([hidden])"

# Of every element with letters of its own: how well they stand out (WCAG 2, at least 4.5)
CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => {
      c /= 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || element.closest("script") || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.textContent.slice(0, 40)]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium found (apt-get install chromium, or set CHROMIUM)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory, selection_html, subset_html, comparison_html):
    """The pages as somebody would get them by mail."""
    folder = tmp_path_factory.mktemp("pages")
    for name, page in zip(PAGES, (selection_html, subset_html, comparison_html), strict=True):
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture
def visit(browser, files):
    """Open a page; at the end, nothing must have gone wrong in it."""
    contexts, problems = [], []

    def visit(name, *, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        address = (files / f"{name}.html").as_uri()
        page.on("request", lambda request: _note_request(request.url, address, problems))
        page.goto(address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert problems == []


def _note_request(asked, address, problems):
    if asked != address and not asked.startswith("blob:"):
        problems.append(f"asked for {asked}")


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_page_fits(visit, name, width):
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in (each.bounding_box() for each in page.query_selector_all("figure, .data, h1, p")):
        if box is not None:  # which is not within something closed
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


@pytest.mark.parametrize("name", PAGES)
def test_names_do_nothing(visit, name):
    page = visit(name)
    page.wait_for_timeout(100)
    assert page.title() != "hostile"
    assert page.locator("script").count() == 1
    assert page.locator("img").count() == 0
    assert page.get_by_text("<script>document.title", exact=False).count() > 0


@pytest.mark.parametrize("with_policy", [True, False])
def test_an_injected_script_would_not_run(browser, files, with_policy):
    """Even if escaping failed: the page's policy knows its own script only."""
    page = (files / "selection.html").read_text(encoding="utf-8")
    page = page.replace("</h1>", "</h1><script>document.title = 'hostile'</script>")
    if not with_policy:
        page = page.replace("Content-Security-Policy", "nothing")
    (files / "spoiled.html").write_text(page, encoding="utf-8")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto((files / "spoiled.html").as_uri())
    assert (tab.title() == "hostile") is not with_policy
    context.close()


def column(page, place):
    cells = page.query_selector_all(f"{ROWS} > :nth-child({place})")
    return [cell.get_attribute("data-value") or cell.inner_text() for cell in cells]


def test_sorts_by_click_and_by_key(visit, selection_run):
    page = visit("selection")
    head = page.locator("section:has(#features) th", has_text="weight")
    weights = sorted(selection_run.selector.weights_)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert [float(value) for value in column(page, 4)] == weights[::-1]
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert [float(value) for value in column(page, 4)] == weights
    name = page.locator("section:has(#features) th", has_text="feature").get_by_role("button")
    name.focus()
    page.keyboard.press("Space")
    names = column(page, 1)
    assert names[0] != names[-1]
    assert page.locator("section:has(#features) [aria-sort]").count() == 1


def test_filters(visit, selection_run):
    page = visit("selection")
    shown = (" ".join(map(str, row)) for row in selection_run.rows)
    expected = [text for text in shown if "javascript" in text]
    assert 0 < len(expected) < len(selection_run.rows)
    page.locator("section:has(#features) input").fill("JAVAscript")
    assert len(column(page, 1)) == len(expected)
    told = page.locator("section:has(#features) output").inner_text()
    assert told == f"{len(expected)} of {len(selection_run.rows)} rows"
    page.locator("section:has(#features) input").fill("")
    assert len(column(page, 1)) == len(selection_run.rows)


def test_downloads(visit, selection_run, tmp_path):
    page = visit("selection", accept_downloads=True)
    with page.expect_download() as download:
        page.locator("section:has(#features) .download").click()
    assert download.value.suggested_filename == "selected.csv"
    download.value.save_as(tmp_path / "selected.csv")
    with (tmp_path / "selected.csv").open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["feature", "index", "order", "weight", "leverage", "stands for"]
    assert [(int(row[1]), float(row[3])) for row in rows] == [
        (row[1], row[3]) for row in selection_run.rows
    ]
    names = [f"'{row[0]}" if row[0].startswith("=") else row[0] for row in selection_run.rows]
    assert any(name.startswith("'=") for name in names)
    without_zeros = [name.replace("\0", "").split() for name in names]  # as browsers have them
    assert [row[0].split() for row in rows] == without_zeros


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_letters_stand_out(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    found = page.evaluate(CONTRASTS)
    assert len(found) > 50
    assert [each for each in found if each[0] < 4.5] == []


def test_best_subset_is_explained(visit):
    page = visit("subset")
    section = page.locator("section:has(#optimality)")
    assert "No other 20 of the 300 features would fit this target more than" in (
        section.inner_text()
    )
    box = section.locator("figure svg, figure img").first.bounding_box()
    assert box["width"] > 200


def test_light_and_dark_differ(visit):
    colours = {
        visit("selection", color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert len(colours) == 2


def test_reads_without_scripts(visit, selection_run):
    page = visit("selection", java_script_enabled=False)
    assert page.locator("section:has(#features) tbody tr").count() == len(selection_run.rows)
    assert not page.locator("section:has(#features) .tools").is_visible()


def test_prints_every_row(visit):
    page = visit("selection")
    page.emulate_media(media="print")
    scroll = page.locator("section:has(#features) .scroll")
    assert scroll.evaluate("e => e.scrollHeight <= e.clientHeight")
    assert not page.locator("section:has(#features) .tools").is_visible()


def test_keyboard_reaches_everything(visit):
    page = visit("comparison")
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"A", "BUTTON", "INPUT", "SUMMARY", "DIV"} <= reached
