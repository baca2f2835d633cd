"""The settings of Sphinx for the site; `build.py` lays out what it reads."""

project = "latchfree"
author = "the authors of latchfree"
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_title = "latchfree"
html_static_path: list[str] = []
html_show_search_summary = False  # a summary is fetched, and a page opened from a file may not fetch
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_extra_path = ["extra"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
pygments_style = "tango"
highlight_options = {"default": {"stripnl": False}}
default_role = None
exclude_patterns = ["extra/**"]
suppress_warnings = [
    "misc.highlighting_failure",  # a block of console has what a program printed
    "myst.header",  # the terms of the glossary are small headings
]
