# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx configuration: `python -m sphinx -W --keep-going docs docs/_build`."""

import os
import sys
from pathlib import Path

import ridgewise

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for examples that start processes

project = "Ridgewise"
author = "The Ridgewise developers"
copyright = author  # noqa: A001
version = release = ridgewise.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas work offline
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_generated/choice.md",
    "measured",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.zip",
]
suppress_warnings = ["config.cache"]  # the gallery's settings hold classes
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections have them
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(DOCS.parent / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "doc_module": ("ridgewise",),
    "reference_url": {"ridgewise": None},
    "backreferences_dir": None,
}

html_theme = "pydata_sphinx_theme"
html_title = "Ridgewise"
html_static_path = ["_static"]
html_css_files = ["ridgewise.css"]
html_theme_options = {
    "logo": {"text": "Ridgewise"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}
# pages that stand alone need no list of their neighbours; the gallery and the API have theirs
ALONE = "index start guide additive guarantees how-it-works performance scaling paper-corrected"
ALONE += " paper-reproduced developing changelog"
html_sidebars = {page: [] for page in ALONE.split()}
html_show_sourcelink = False
html_copy_source = False


def setup(app):
    """Generate figures and tables before the pages are read."""
    app.connect("builder-inited", make_generated)


def make_generated(app):
    """Generate figures and tables in a temporary folder."""
    import pictures

    import choice

    pictures.make(DOCS / "_generated" / "how")
    choice.make(DOCS / "_generated")
