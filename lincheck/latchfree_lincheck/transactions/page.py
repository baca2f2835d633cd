"""The page of a report: what was found, which levels are ruled out, and the picture of each anomaly.

One HTML file without scripts, which loads nothing: its policy allows its own style only, by the digest of the style.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Collection, Sequence
from importlib.resources import files
from typing import Final

from latchfree_lincheck.transactions.anomaly import Anomaly, meaning
from latchfree_lincheck.transactions.levels import LEVELS
from latchfree_lincheck.transactions.picture import picture, plain
from latchfree_lincheck.transactions.transaction import Transaction
from latchfree_support.pages import digest_of

_MOST_PICTURES: Final = 20


def page(
    title: str,
    head: str,
    verdict: str,
    out: Collection[str],
    anomalies: Sequence[Anomaly],
    history: Sequence[Transaction],
) -> str:
    """Return an HTML page.

    Parameters
    ----------
    title : str
        What the history is called.
    head : str
        The judgement in one line.
    verdict : str
        The judgement in one word, as a class of the style.
    out : collection of str
        The levels of isolation that are ruled out.
    anomalies : sequence of Anomaly
        What was found, in the order in which to show it.
    history : sequence of Transaction
        The transactions to which the anomalies refer.
    """
    style = (files("latchfree_lincheck.transactions") / "page.css").read_text(encoding="utf-8")
    levels = "".join(f'<li class="{"out" if level in out else "kept"}">{level}</li>' for level in LEVELS)
    count = Counter(anomaly.name for anomaly in anomalies)
    shown: Counter[str] = Counter()
    sections = []
    for anomaly in anomalies:
        shown[anomaly.name] += 1
        if shown[anomaly.name] <= _MOST_PICTURES:
            which = f" {shown[anomaly.name]} of {count[anomaly.name]}" if count[anomaly.name] > 1 else ""
            sections.append(
                f"<section><h2>{plain(anomaly.name)}{which}: {plain(meaning(anomaly.name))}</h2>"
                f"<figure>{picture(anomaly, history)}</figure>"
                f"<pre>{plain(anomaly.explain(history))}</pre></section>"
            )
    policy = f"default-src 'none'; style-src '{digest_of(style)}'; base-uri 'none'; form-action 'none'"
    return string.Template(_PAGE).substitute(
        policy=policy,
        title=plain(title),
        style=style,
        verdict=verdict,
        head=plain(head),
        levels=levels,
        sections="".join(sections),
    )


_PAGE: Final = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="$policy">
<title>$title</title>
<style>$style</style>
</head>
<body>
<h1>$title</h1>
<p class="verdict $verdict">$head</p>
<p>Levels of isolation; those crossed out are ruled out:</p>
<ul class="levels">$levels</ul>
$sections
</body>
</html>
"""
