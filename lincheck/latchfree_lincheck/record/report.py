"""The report of a run: one HTML page with the verdict, throughput and faults over time, and what failed.

The page loads nothing and runs nothing: style and drawing stand in it, its policy names the digest of its own style,
and every text of the system under test is escaped. Its only link is to the page of the history beside it.
"""

from __future__ import annotations

import html
import shlex
import statistics
import string
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

from latchfree_lincheck.record.chart import chart
from latchfree_lincheck.record.entries import RecordedCall
from latchfree_lincheck.record.facts import Facts
from latchfree_lincheck.show import Judged
from latchfree_support.pages import digest_of


def report_page(run: Facts, judged: Judged) -> str:
    """Return the page of a run.

    Parameters
    ----------
    run : Facts
        What happened.
    judged : Judged
        Its history, judged.
    """
    style = _static("report.css")
    seconds = (run.ended - run.started) / 1e9
    facts = f"{run.clients} clients, {len(run.records.calls):,} calls, {seconds:.1f} s, seed {run.seed}"
    failing = _failing(run, judged)
    return string.Template(_static("report.html")).substitute(
        style=style,
        style_hash=digest_of(style),
        name=_text(run.name),
        verdict=judged.verdict.verdict,
        facts=facts,
        explained=_text(judged.verdict.explain()),
        command=_text(shlex.join(["latchfree", "check", "history.jsonl", "--model", judged.model.name])),
        chart=chart(run.records.calls, run.records.faults, run.started, run.ended, failing),
        failing_legend='<li><i class="bad"></i>no order explains the call that ended here</li>' if failing else "",
        operations=_operations(run),
        faults=_faults(run),
        errors=_errors(run),
    )


def _failing(run: Facts, judged: Judged) -> RecordedCall | None:
    """Return the call that no order explains, if there is one; tickets tell calls apart."""
    if judged.verdict.failing is None:
        return None
    ticket = judged.history.operation(judged.verdict.failing).invoke
    return next(call for call in run.records.calls if call.invoke == ticket)


def _operations(run: Facts) -> str:
    rows = []
    for f, ends in run.counts().items():
        times = [
            (call.ended - call.begun) / 1e6
            for call in run.records.calls
            if call.f == f and call.end == "return" and call.ended is not None
        ]
        spent = (f"{statistics.median(times):.2f}", f"{max(times):.2f}") if times else ("", "")
        rows.append((f, *(f"{ends[end]:,}" for end in ("return", "fail", "lost")), *spent))
    return _table(("operation", "returned", "failed", "lost", "median ms", "longest ms"), rows)


def _faults(run: Facts) -> str:
    def at(time: int | None) -> str:
        return "" if time is None else f"{(time - run.started) / 1e9:.3f}"

    rows = [
        (each.name, at(each.begun), at(each.ended), f"{each.first:,}", "" if each.last is None else f"{each.last:,}")
        for each in run.records.faults
    ]
    rows += [(f"{name} (the run ended before)", "", "", "", "") for name in run.missed]
    if not rows:
        return '<p class="quiet">None.</p>'
    return _table(("fault", "begins, s", "ends, s", "first ticket", "last ticket"), rows)


def _errors(run: Facts) -> str:
    errors = Counter((call.f, call.end, call.error) for call in run.records.calls if call.error).most_common(10)
    if not errors:
        return ""
    rows = [(f, end, error, f"{count:,}") for (f, end, error), count in errors]
    return "<h2>Errors</h2>\n" + _table(("operation", "end", "error", "times"), rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    numbers = [at for at in range(1, len(heads)) if all(set(row[at]) <= set("0123456789.,") for row in rows)]

    def cell(kind: str, text: str, at: int) -> str:
        attribute = ' class="number"' if at in numbers else ""
        return f"<{kind}{attribute}>{_text(text)}</{kind}>"

    lines = [("th", heads), *(("td", row) for row in rows)]
    body = ("<tr>" + "".join(cell(kind, text, at) for at, text in enumerate(row)) + "</tr>" for kind, row in lines)
    return "<table>\n" + "\n".join(body) + "\n</table>"


def _text(text: str) -> str:
    """Return text for HTML; what UTF-8 cannot say is shown by its escape."""
    return html.escape(text.encode("utf-8", "backslashreplace").decode())


def _static(name: str) -> str:
    return (files("latchfree_lincheck.record") / "static" / name).read_text(encoding="utf-8")
