"""Pictures and pages: well-formed, complete, and closed to what a history says."""

import re
import xml.etree.ElementTree as ElementTree

from transaction_databases import run
from transaction_texts import lists

from latchfree_lincheck.transactions import Transaction, check_transactions
from latchfree_lincheck.transactions.picture import picture

EVIL = '</text></svg><script>alert("&")</script>\x00\ud800'


def test_a_cycle_as_a_picture():
    history = lists("1 x+1 y?1", "2 x+2 y+1", "x?1,2")
    report = check_transactions(history)
    drawn = ElementTree.fromstring(picture(report.anomalies[0], history))
    texts = [element.text for element in drawn.iter("text")]
    assert {"T0  process 1", "T1  process 2", "ww x 2", "wr y 1", "append x 1", "read y -> [1]"} <= set(texts)
    assert len(list(drawn.iter("rect"))) == 2
    # Each edge is a line and a head, and the operations that the edges are about are bold.
    assert [element.get("class") for element in drawn.iter("path")] in (
        ["ww", "head ww", "wr", "head wr"],
        ["wr", "head wr", "ww", "head ww"],
    )
    bold = {element.text for element in drawn.iter("text") if element.get("class") == "told"}
    assert bold == {"append x 1", "read y -> [1]", "append x 2", "append y 1"}


def test_all_pictures_are_well_formed(rng):
    names = set()
    for level in ("serializable", "read-committed", "read-uncommitted"):
        for kind in ("list-append", "rw-register"):
            history = run(rng, level, kind, transactions=60, processes=5)
            for anomaly in check_transactions(history, kind).anomalies:
                names.add(anomaly.name)
                box = ElementTree.fromstring(picture(anomaly, history)).get("viewBox").split()
                assert all(float(number) >= 0 for number in box)
    assert len(names) > 5


def test_a_page_is_whole_and_loads_nothing():
    report = check_transactions(lists("x? y+1", "y? x+1"), level="serializable")
    page = report.html("the doctors")
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")
    assert "<title>the doctors</title>" in page
    assert '<li class="out">serializable</li>' in page
    assert '<li class="kept">snapshot-isolation</li>' in page
    assert page.count("<svg") == page.count("</svg>") == 1
    assert not re.search(r"https?://|<script|url\(|@import", page)
    assert "default-src 'none'" in page


def test_a_history_cannot_break_out_of_its_page():
    history = [
        Transaction((("r", EVIL, ()), ("append", "y", EVIL)), process=EVIL),
        Transaction((("r", "y", ()), ("append", EVIL, 1))),
    ]
    report = check_transactions(history)
    page = report.html(EVIL)
    assert "<script" not in page
    assert "\x00" not in page
    page.encode()
    for anomaly in report.anomalies:
        ElementTree.fromstring(picture(anomaly, history))


def test_a_page_of_very_many_anomalies_is_bounded():
    history = lists(
        *["! x+1"], *["x?1"] * 3, *[f"k{i}? k{i}+1" for i in range(200)], *[f"k{i}? k{i}+2" for i in range(200)]
    )
    report = check_transactions(history)
    assert len([each for each in report.anomalies if each.name == "lost-update"]) == 200
    page = report.html()
    assert page.count("<svg") == 1 + 20 + 20  # G1a, lost-update, G2-item
    assert "lost-update 1 of 200" in page
