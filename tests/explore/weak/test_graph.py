"""Execution graphs made of rows, what they refuse, and what the four models say of well-known ones."""

import pytest

from latchfree_explore.weak.axioms import MODELS, allowed_by, consistent, races
from latchfree_explore.weak.graph import INITIAL, Graph, Row


def W(thread, word, place=1, order="rel", value=1):
    return Row(thread, "W", word, order, place=place, value=value)


def R(thread, word, reads=INITIAL, order="acq"):
    return Row(thread, "R", word, order, reads=reads)


def U(thread, word, reads=INITIAL, place=1, order="sc"):
    return Row(thread, "U", word, order, reads=reads, place=place)


def C(thread, word, reads=INITIAL, order="sc"):
    return Row(thread, "C", word, order, reads=reads)


def F(thread, order="sc"):
    return Row(thread, "F", None, order)


def judged(*rows):
    return " ".join(allowed_by(Graph.record(rows)))


def test_the_relations_of_message_passing():
    graph = Graph.record([W(0, "x"), W(0, "y"), R(1, "y", 1), R(1, "x")])
    assert [event.word for event in graph.events] == ["x", "y", "x", "y", "y", "x"]
    assert graph.source == (None, None, None, None, 3, 0)
    assert graph.writes == {"x": (0, 2), "y": (1, 3)}
    assert graph.rf == (1 << 5, 0, 0, 1 << 4, 0, 0)
    assert graph.mo == (1 << 2, 1 << 3, 0, 0, 0, 0)
    assert graph.rb == (0, 0, 0, 0, 0, 1 << 2)
    assert graph.po == (0b111100, 0b111100, 1 << 3, 0, 1 << 5, 0)
    assert graph.final() == {"x": 1, "y": 1}


def test_places_order_the_writes_and_a_row_may_read_a_later_one():
    graph = Graph.record([R(0, 7, 2), W(1, 7, place=9, value=5), W(1, 7, place=3, value=6)], {7: 40})
    assert graph.writes == {7: (0, 3, 2)}
    assert graph.final() == {7: 5}
    assert graph.events[0].value == 40
    assert graph.source[1] == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Row(0, "X", "x", "acq"), "row 0: no kind 'X'"),
        (Row(0, "R", "x", "seq", reads=INITIAL), "no order 'seq'"),
        (Row(-1, "R", "x", "acq", reads=INITIAL), "thread -1"),
        (Row(0, "F", "x", "sc"), "a fence has no word"),
        (Row(0, "R", None, "acq", reads=INITIAL), "a fence has no word"),
        (Row(0, "W", "x", "rel"), "has a place"),
        (Row(0, "R", "x", "acq", reads=INITIAL, place=1), "has a place"),
        (Row(0, "R", "x", "acq"), "names the row"),
        (Row(0, "R", "x", "acq", reads=5), "reads row 5, which is no other row"),
        (Row(0, "R", "x", "acq", reads=1), "reads row 1, which does not write the word"),
        (Row(0, "W", "y", "rel", place=1), "two writes have the same place"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused(row, message):
    with pytest.raises(ValueError, match=message):
        Graph.record([row, W(1, "y")])


def test_store_buffering():
    plain = [W(0, "x"), R(0, "y"), W(1, "y"), R(1, "x")]
    assert judged(*plain) == "tso sra rc11"
    assert judged(plain[0], F(0), plain[1], plain[2], F(1), plain[3]) == ""
    assert judged(plain[0], F(0, "ar"), plain[1], plain[2], F(1, "ar"), plain[3]) == "tso sra rc11"
    assert judged(U(0, "x"), plain[1], U(1, "y"), plain[3]) == "sra rc11"
    assert judged(W(0, "x", order="sc"), plain[1], W(1, "y", order="sc"), plain[3]) == "sra rc11"
    assert judged(W(0, "x", order="sc"), R(0, "y", order="sc"), W(1, "y", order="sc"), R(1, "x", order="sc")) == ""
    assert judged(W(0, "x"), R(0, "y", order="sc"), W(1, "y"), R(1, "x", order="sc")) == "tso sra rc11"


def test_a_failed_compare_and_swap_is_locked_on_x86_and_a_seq_cst_load_elsewhere():
    assert judged(W(0, "x"), C(0, "z"), R(0, "y"), W(1, "y"), C(1, "z"), R(1, "x")) == "sra rc11"
    assert judged(W(0, "x"), R(0, "z", order="sc"), R(0, "y"), W(1, "y"), C(1, "z"), R(1, "x")) == "tso sra rc11"


def test_message_passing():
    assert judged(W(0, "x"), W(0, "y"), R(1, "y", 1), R(1, "x")) == ""
    assert judged(W(0, "x"), W(0, "y", order="rlx"), R(1, "y", 1), R(1, "x")) == "sra rc11"
    assert judged(W(0, "x"), W(0, "y"), R(1, "y", 1, "rlx"), R(1, "x")) == "sra rc11"
    assert judged(W(0, "x"), F(0, "rel"), W(0, "y", order="rlx"), R(1, "y", 2, "rlx"), F(1, "acq"), R(1, "x")) == ""


def test_only_rc11_writes_backwards():
    assert judged(W(0, "x", 2), W(0, "y", 1), W(1, "y", 2), W(1, "x", 1)) == "rc11"


def test_fences_of_sra_are_updates_of_one_word():
    """One order of hb, mo and the fences: rc11's order of fences alone sees one step of mo at a time."""
    rows = [
        W(0, "z"), F(0), W(0, "x", 1),
        W(1, "x", 2), W(1, "y", 1),
        W(2, "y", 2), F(2), R(2, "z"),
    ]  # fmt: skip
    assert judged(*rows) == "rc11"


def test_a_seq_cst_load_passes_an_earlier_store():
    assert judged(U(0, "y"), W(0, "x", 1), W(1, "x", 2), R(1, "y", order="sc")) == "tso sra rc11"


def test_an_update_is_next_to_what_it_read():
    assert judged(U(0, "x", place=1), U(1, "x", place=2)) == ""
    assert judged(U(0, "x", place=1), U(1, "x", 0, place=2)) == " ".join(MODELS)
    assert judged(W(0, "x", place=1), U(1, "x", place=2)) == ""
    assert judged(U(0, "x", 1, place=1), U(1, "x", 2, place=2), W(2, "x", place=3)) == ""


def test_no_value_out_of_thin_air():
    assert judged(R(0, "x", 3, "rlx"), W(0, "y", order="rlx"), R(1, "y", 1, "rlx"), W(1, "x", order="rlx")) == ""


def test_the_release_sequence_of_rc11():
    """The later relaxed store of the releasing thread is in the sequence; that of another thread is not."""
    own = [W(0, "x"), W(0, "y", 1), W(0, "y", 2, "rlx"), R(1, "y", 2), R(1, "x")]
    assert judged(*own) == ""
    assert judged(W(0, "x"), W(0, "y", 1), W(2, "y", 2, "rlx"), R(1, "y", 2), R(1, "x")) == "sra rc11"
    assert judged(W(0, "x"), W(0, "y", 1), U(2, "y", 1, 2, "rlx"), R(1, "y", 2), R(1, "x")) == ""


def test_races():
    store, load = W(0, "x", order="na"), R(1, "x", order="na")
    assert races(Graph.record([store, load])) == [(1, 2)]
    handed = [store, W(0, "y"), R(1, "y", 1), R(1, "x", 0, "na")]
    assert races(Graph.record(handed)) == []
    assert races(Graph.record([store, W(0, "y", order="rlx"), *handed[2:]])) == [(2, 5)]
    assert races(Graph.record([W(0, "x"), R(1, "x")])) == []
    assert races(Graph.record([W(0, "x"), load])) == [(1, 2)]
    assert races(Graph.record([R(0, "x", order="na"), load])) == []


def test_one_model_is_asked_as_all_are():
    graph = Graph.record([W(0, "x"), R(0, "y"), W(1, "y"), R(1, "x")])
    assert tuple(model for model in MODELS if consistent(graph, model)) == allowed_by(graph)
