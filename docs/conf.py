"""Sphinx settings: ``tox -e docs`` or ``sphinx-build -W docs docs/_build/html``."""

project = "tensorx"
author = "the tensorx developers"
copyright = "2026, the tensorx developers"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tensorx"
