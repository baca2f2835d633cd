"""Splices: applied to the items before, they give the items after; and equal values read alike."""

from hypothesis import given
from hypothesis import strategies as st

from latchfree_lincheck.show.states import LONGEST, SEQUENCE, SET, VALUE, Trail, text_of

ATOMS = st.integers(-3, 12) | st.sampled_from(["a", "b", "</script>", None])
SETS = st.frozensets(ATOMS, max_size=8)
MAPS = st.dictionaries(ATOMS, st.integers(0, 4), max_size=8).map(lambda d: frozenset(d.items()))
SEQUENCES = st.lists(st.integers(0, 2), max_size=7).map(tuple)
RUNS = (
    st.lists(SETS, min_size=1, max_size=12)
    | st.lists(MAPS, min_size=1, max_size=12)
    | st.lists(SEQUENCES, min_size=1, max_size=12)
    | st.lists(SETS | SEQUENCES | ATOMS, min_size=1, max_size=12)
)


@given(states=RUNS, pairs=st.booleans())
def test_splices_lead_from_state_to_state(states: list, pairs: bool) -> None:
    trail = Trail(states[0], pairs=pairs)
    items = list(trail.items)
    for state in states[1:]:
        for at, removed, added in trail.follow(state):
            assert 0 <= at <= at + removed <= len(items)
            items[at : at + removed] = added
        assert items == trail.items == Trail(state, pairs=pairs).items


def test_brackets_and_order() -> None:
    assert Trail(frozenset({(10, "x"), (9, "y")}), pairs=True).items == [SET, "9: 'y'", "10: 'x'"]
    assert Trail(frozenset({(10, "x"), (9, "y")}), pairs=False).items == [SET, "(9, 'y')", "(10, 'x')"]
    assert Trail((3, 1), pairs=False).items == [SEQUENCE, "3", "1"]
    assert Trail(None, pairs=False).items == [VALUE, "None"]


def test_one_key_of_many_is_one_splice() -> None:
    contents = dict.fromkeys(range(1_000), 0)
    trail = Trail(frozenset(contents.items()), pairs=True)
    assert trail.follow(frozenset({**contents, 500: 7}.items())) == [(501, 1, ("500: 7",))]
    assert trail.follow(frozenset()) == [(1, 1_000, ())]
    assert trail.items == [SET]


def test_a_queue_moves_at_its_ends() -> None:
    trail = Trail((1, 2, 3), pairs=False)
    assert trail.follow((1, 2, 3, 4)) == [(4, 0, ("4",))]
    assert trail.follow((2, 3, 4)) == [(1, 1, ())]


def test_long_texts_are_cut() -> None:
    text = text_of(tuple(range(100_000)))
    assert len(text) < LONGEST + 40
    assert text.endswith("… (688,890 characters)")


def test_sets_read_in_order() -> None:
    assert text_of(frozenset({3, 20, 1})) == "{1, 3, 20}"
    assert text_of((frozenset(), (frozenset({"b", "a"}),))) == "({}, ({'a', 'b'},))"
