"""The page of a schedule in a real browser: keys and buttons step, later steps fade, the console says nothing."""

import pytest

pytest.importorskip("greenlet")

import shared_objects as so
from show_browser import browser

from latchfree_explore import explore_threads

pytestmark = pytest.mark.browser

STATE = """
const rows = [...document.querySelectorAll("#steps tr")];
return [rows.findIndex((row) => row.classList.contains("now")),
        rows.filter((row) => row.classList.contains("later")).length,
        rows.filter((row) => row.classList.contains("switch")).length,
        document.getElementById("place").textContent];
"""


def test_keys_step_through_a_schedule(tmp_path):
    result = explore_threads(
        *[lambda it: it.increment()] * 2, setup=so.Counter, check=lambda it: it.n == 2, strategy="dpor", raises=False
    )
    file = tmp_path / "page.html"
    file.write_text(result.page(), encoding="utf-8")
    last = len(result.steps) - 1
    with browser() as window:
        window.open(file)
        assert window.run(STATE)[:3] == [last, 0, result.context_switches]
        window.keys("k")
        assert window.run(STATE)[:2] == [last - 1, 1]
        window.keys("\ue011")  # Home
        now, later, _, place = window.run(STATE)
        assert (now, later) == (0, last)
        assert place.startswith(f"step 0 of {last}: thread ")
        window.keys("k")
        assert window.run(STATE)[0] == 0
        window.keys(" ")
        assert window.run(STATE)[0] == next(
            at for at, step in enumerate(result.steps) if step.thread != result.steps[0].thread
        )
        window.run("document.getElementById('last').click();")
        assert window.run(STATE)[0] == last
        assert window.complaints() == []
