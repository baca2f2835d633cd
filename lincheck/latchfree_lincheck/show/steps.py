"""The atomic steps of an explored run: what each thread did to shared memory, in the order it happened."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Step(TypedDict):
    """One access to shared memory.

    Parameters
    ----------
    thread : int
        Who made it.
    function, file, line, text : str, str, int and str
        Where the access stands in the source, and the line itself.
    kind : str
        What it does, for instance ``"load"``, ``"store"`` or ``"cas"``.
    address : int
        The word, by its offset.
    value : object
        What was read or written.
    begins : str
        The operation that begins with this access.
    returns : object
        What the operation returned that ends with it.
    aside : bool
        Whether it matters to no other thread.
    """

    thread: int
    kind: str
    function: NotRequired[str]
    file: NotRequired[str]
    line: NotRequired[int]
    text: NotRequired[str]
    address: NotRequired[int]
    value: NotRequired[object]
    begins: NotRequired[str]
    returns: NotRequired[object]
    aside: NotRequired[bool]


COLUMNS = ("function", "file", "line", "text", "kind", "address", "value", "begins", "returns", "aside")


def plain(step: Step) -> dict[str, object]:
    """Return a step as JSON values; integers become text, as they may be 64 bits wide."""
    shown: dict[str, object] = {"thread": step["thread"]}
    for name in COLUMNS:
        value = step.get(name)
        if value is not None:
            shown[name] = value if isinstance(value, str | bool) else repr(value)
    return shown
