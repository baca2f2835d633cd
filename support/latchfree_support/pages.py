"""Put HTML pages together that stand in one file, and need no network.

The policy of such a page names the digests of its own style and script: a browser runs nothing else, and loads nothing.
Data stands in a ``<script type="application/json">`` element; see `as_json`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import string
from collections.abc import Callable, Sequence


def digest_of(text: str) -> str:
    """Return the digest by which a content security policy allows an inline element."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode(errors="backslashreplace")).digest()).decode()


def as_json(data: object) -> str:
    r"""Return JSON text that may stand inside any HTML element.

    The only way out of such an element is text that starts with ``<``, so no ``<`` is left: JSON may write it as
    ``\u003c``, and it occurs in strings only.
    """
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def scripted_page(
    part: Callable[[str], str], frame: str, style: str, scripts: Sequence[str], title: str, data: object
) -> str:
    """Return a page with a script that draws data.

    Parameters
    ----------
    part : callable
        Returns the text of a part by its name.
    frame, style, scripts : str, str, sequence of str
        Names of the parts: the HTML around, with places for the rest; the style; the scripts, in the order in which
        they are read, as one function.
    title : str
        Plain text.
    data : object
        What `as_json` takes.
    """
    look = part(style)
    script = '"use strict";\n(() => {\n' + "".join(map(part, scripts)) + "})();\n"
    return string.Template(part(frame)).substitute(
        title=html.escape(title),
        style=look,
        style_hash=digest_of(look),
        script=script,
        script_hash=digest_of(script),
        data=as_json(data),
    )
