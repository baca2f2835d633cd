"""Make the gallery: each bug in a process of its own, for a mutant stays applied to its end; then the index."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from latchfree_evidence import MUTANTS
from latchfree_lincheck.show import save
from latchfree_teach.gallery.frame import framed
from latchfree_teach.play.alone import made_alone


def has_page(name: str) -> bool:
    """Return whether a mutant has a play page: the explorer can show it."""
    return MUTANTS[name].scenario is not None


def build_gallery(
    folder: str | Path, mutants: Iterable[str] = (), *, on_entry: Callable[[str], None] = lambda name: None
) -> list[dict[str, Any]]:
    """Write a gallery: ``index.html``, and three pages for each mutant.

    Parameters
    ----------
    folder : path
        It is made where it is not there.
    mutants : iterable of str
        By default all that the explorer can show.
    on_entry : callable
        Called with the name of each mutant before its pages are made.

    Returns
    -------
    list of dict
        For each mutant what its pages hold: id, states, par, bound, bytes.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If there is no such mutant, or the explorer cannot show it.
    RuntimeError
        If the pages of a mutant cannot be made.
    OSError
        If the folder cannot be written.
    """
    if not isinstance(folder, str | Path):
        raise TypeError(f"folder must be a path, not {type(folder).__name__}")
    if not callable(on_entry):
        raise TypeError(f"on_entry must be a function, not {type(on_entry).__name__}")
    names = _names(mutants) or [name for name in MUTANTS if has_page(name)]
    for name in names:
        if name not in MUTANTS or not has_page(name):
            known = ", ".join(each for each in MUTANTS if has_page(each))
            raise ValueError(f"no page for mutant {name!r}; there are pages for {known}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name in names:
        on_entry(name)
        told: dict[str, Any] = made_alone(f"mutant {name}", "latchfree_teach.gallery.entry", name, str(folder))
        made.append(told)
    save(folder / "index.html", framed("Known bugs, to be played", _index(made)))
    return made


def _names(mutants: object) -> list[str]:
    """Return what somebody gives as names, as a list; text is one name, and no list of them."""
    found: list[object] = [mutants]
    if isinstance(mutants, Iterable) and not isinstance(mutants, str):
        with suppress(TypeError):  # an array of no dimension
            found = list(iter(mutants))
    for name in found:
        if not isinstance(name, str) or name is mutants:
            raise TypeError(f"mutants must be names such as ['S1'], and here is one of type {type(name).__name__}")
    return cast("list[str]", found)


def _index(made: list[dict[str, Any]]) -> str:
    rows = "".join(map(_row, made))
    return (
        "<p>Each is a bug that was published, or that a first version had, put back into code that is right. You are "
        "the scheduler: let the threads of compiled code go on until nothing explains what they returned.</p>"
        '<div class="scroll"><table><tr><th>bug</th><th>structure</th><th>what goes wrong</th><th>published</th>'
        f"<th>par</th><th></th></tr>{rows}</table></div>"
    )


def _row(each: dict[str, Any]) -> str:
    mutant = MUTANTS[each["id"]]
    texts = (mutant.target, mutant.summary, mutant.published or "", "none" if each["par"] is None else str(each["par"]))
    cells = "".join(f"<td>{html.escape(text)}</td>" for text in texts)
    name = mutant.id
    return f'<tr><td><a href="{name}.html">{name}</a></td>{cells}<td><a href="{name}-play.html">play</a></td></tr>'
