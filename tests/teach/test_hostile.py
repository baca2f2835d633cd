"""Public calls that start processes or apply bugs, with anything in any place: an exception that names the place.

What else is public is called by `tests/boundaries`.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from boundary_values import VALUES, Raises

from latchfree_teach import Grader, build_gallery, find_lesson, mutant_page, play_page

LESSON = find_lesson("1")


class Place(NamedTuple):
    """A call, its other arguments, the parameter that takes anything, and what is right for it."""

    call: Callable[..., Any]
    given: dict[str, Any]
    parameter: str
    right: Callable[[Any], bool]


def nothing_in(value: Any) -> bool:
    """Whether a value asks for all mutants."""
    try:
        return isinstance(value, Iterable) and not isinstance(value, str) and not list(iter(value))
    except TypeError:
        return False


PLACES = {
    "lesson": Place(Grader().grade, {"text": ""}, "lesson", lambda value: False),
    "text": Place(Grader().grade, {"lesson": LESSON}, "text", lambda value: isinstance(value, str)),
    "name": Place(Grader().grade, {"lesson": LESSON, "text": ""}, "name", lambda value: isinstance(value, str)),
    "play": Place(Grader().grade, {"lesson": LESSON, "text": ""}, "play", lambda value: isinstance(value, bool)),
    "seconds": Place(Grader, {}, "seconds", lambda value: type(value) is int and 1 <= value <= 1 << 20),
    "megabytes": Place(Grader, {}, "megabytes", lambda value: type(value) is int and 1 <= value <= 1 << 20),
    "mutants": Place(build_gallery, {"folder": "never"}, "mutants", nothing_in),
    "folder": Place(build_gallery, {"mutants": ["none"]}, "folder", lambda value: isinstance(value, str | Path)),
    "on_entry": Place(build_gallery, {"folder": "never", "mutants": ["none"]}, "on_entry", callable),
    "mutant": Place(mutant_page, {}, "name", lambda value: isinstance(value, str)),
    "scenario": Place(mutant_page, {"name": "none"}, "scenario", lambda value: isinstance(value, str | None)),
    "switches": Place(mutant_page, {"name": "none"}, "switches", lambda value: value is None or type(value) is int),
    "target": Place(play_page, {"scenario": "increment"}, "target", lambda value: False),
}


def anything(name: str) -> Any:
    """A hostile value; None for one that needs a structure of `tests/boundaries`."""
    try:
        return VALUES[name](None)  # type: ignore[arg-type]
    except AttributeError:
        return None


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", PLACES)
def test_the_place_of_a_wrong_argument_is_named(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = PLACES[name]
    told = []
    for kind in VALUES:
        try:
            if place.right(anything(kind)):
                continue
            place.call(**place.given, **{place.parameter: anything(kind)})
        except Raises:  # the value did
            continue
        except (TypeError, ValueError) as error:
            told.append(str(error))
        else:
            pytest.fail(f"{kind} was taken")
    assert len(told) > 50
    assert [text for text in told if place.parameter.removesuffix("s") not in text] == []
    assert list(tmp_path.iterdir()) == []
