"""The frame of the gallery's own pages: text without a script, whose policy allows its style alone."""

from __future__ import annotations

import html
from importlib.resources import files

from latchfree_support.pages import digest_of


def framed(title: str, body: str) -> str:
    """Return a page of a body in HTML."""
    style = (files("latchfree_teach.gallery") / "static" / "gallery.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src '{digest_of(style)}'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<main><h1>{html.escape(title)}</h1>{body}</main>\n</body>\n</html>\n"
    )
