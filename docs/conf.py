"""Sphinx configuration: `python -m sphinx -W docs docs/_build`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from authservice import __version__  # noqa: E402 only found after the line above

project = "authservice"
author = "The authservice authors"
copyright = f"2026, {author}"  # noqa: A001 Sphinx's name for it
version = release = __version__

exclude_patterns = ["_build"]
html_extra_path = ["llms.txt"]
default_role = "literal"
nitpicky = True
highlight_language = "python"

html_theme = "furo"
html_title = f"authservice {release}"
