"""What objects show in a notebook: small, well formed, and with the text of users escaped."""

import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from latchfree import Ctrie
from latchfree_explore import explore
from latchfree_explore.examples.counter import LOST_UPDATE
from latchfree_lincheck import History, Operation, check
from latchfree_model.graph import read_dump
from latchfree_support.notebook import LIMIT, panel, pre, table

EVIL = "<script>alert('&')</script>"
VOID = frozenset({"br", "hr", "img"})


class Tags(HTMLParser):
    """Collects the tags of a text, and sees that each one is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.words = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


def history(count: int = 1) -> History:
    operations = []
    for k in range(count):
        operations.append(Operation(0, "put", (EVIL, k), None, 10 * k, 10 * k + 5))
        operations.append(Operation(EVIL, "get", (EVIL,), EVIL, 10 * k + 1, 10 * k + 7))
    return History(EVIL, operations)


def test_a_map_shows_its_pairs():
    trie = Ctrie(keys="str", values="str")
    trie["<b>"] = EVIL
    found = Tags(trie._repr_html_())
    assert "script" not in found.seen
    assert EVIL in found.words
    assert "Ctrie with 1 pairs" in found.words
    for k in range(1000):
        trie[str(k)] = "x" * 10_000
    large = trie._repr_html_()
    assert len(large) <= LIMIT
    assert "1,001 pairs, the first 50" in Tags(large).words


def test_an_empty_map_has_no_table():
    assert Tags(Ctrie()._repr_html_()).seen == {"div", "p", "b"}


def test_a_history_is_drawn_with_a_bar_for_each_operation():
    root = ET.fromstring(history()._repr_svg_())
    texts = [each.text for each in root.iter() if each.text]
    assert any(EVIL in text for text in texts)
    assert not any("script" in each.tag for each in root.iter())
    assert sum(each.tag.endswith("}g") for each in root.iter()) == 2


@pytest.mark.parametrize("count", [0, 1, 50, 3_000])
def test_the_picture_of_a_history_is_small(count):
    text = history(count)._repr_svg_()
    assert len(text) <= LIMIT
    ET.fromstring(text)


def test_a_pending_operation_is_dashed_to_the_end():
    from latchfree_model import UNKNOWN

    drawn = History(
        "h", [Operation(0, "put", (1, 2), UNKNOWN, 0, None), Operation(1, "get", (1,), 2, 1, 2)]
    )._repr_svg_()
    bars = [each for each in ET.fromstring(drawn).iter() if each.tag.endswith("}rect")][1:]
    assert ["stroke-dasharray" in bar.attrib for bar in bars] == [True, False]
    assert float(bars[0].attrib["width"]) > float(bars[1].attrib["width"])


def test_a_verdict_says_where_and_why():
    found = Tags(check(history(), "map")._repr_html_())
    assert "script" not in found.seen
    assert "violation" in found.words
    assert EVIL in found.words
    fine = Tags(check(History("h", [Operation(0, "get", (1,), None, 0, 1)]), "map")._repr_html_())
    assert "ok" in fine.words
    assert "pre" not in fine.seen


def test_an_exploration_shows_its_failing_interleaving():
    found = Tags(explore(LOST_UPDATE, scenario="increment | increment")._repr_html_())
    assert "not linearizable" in found.words
    assert "store [" in found.words
    assert {"table", "pre"} <= found.seen
    fine = Tags(explore(LOST_UPDATE, scenario="increment")._repr_html_())
    assert "every interleaving" in fine.words
    assert "pre" not in fine.seen


def graph(size: int):
    nodes = [f'{k} [label="x = {k}"];' for k in range(1, size + 1)]
    edges = [f'{k} -> {k + 1} [label="Add",color="black"];' for k in range(1, size)]
    lines = ["strict digraph DiskGraph {", '1 [label="x = 1",style = filled]', *nodes[1:], *edges, "}"]
    return read_dump(line + "\n" for line in lines)


def test_a_state_graph_is_drawn_if_it_is_small():
    root = ET.fromstring(graph(5)._repr_svg_())
    assert any("Add" in (each.text or "") for each in root.iter())
    assert graph(500)._repr_svg_() is None


def test_pieces_that_are_too_large_are_left_out_and_it_says_so():
    text = panel("p", ["x" * 60_000, "y" * 60_000])
    assert len(text) <= LIMIT
    assert "too large" in text
    assert len(pre("line\n" * 100_000)) <= LIMIT
    assert len(table([("x" * 10_000,)])) < 1_000
