"""Write the sizes that TLC reported of a model into its manifest, and leave the rest of the file unchanged."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from latchfree_model.tlc.manifest import SpecModel
from latchfree_model.tlc.result import TlcResult

ORDER: Final = (
    "name", "module", "config", "profile", "expect", "property", "distinct", "total", "depth", "workers", "simulate",
    "steps", "mutant", "seconds", "date", "summary",
)  # fmt: skip
"""The fields of an entry, in the order in which a new one is put in."""

_ENTRY: Final = "[[model]]\n"
_FIELD: Final = re.compile(r"^(\w+)\s*=", re.MULTILINE)


def unrecorded(model: SpecModel) -> SpecModel:
    """Return a model without expected sizes."""
    return replace(model, distinct=None, total=None, depth=None)


def counts(model: SpecModel, result: TlcResult) -> dict[str, int]:
    """Return the sizes that are exact: with several workers the depth is not, and of random behaviours none is."""
    found = {"distinct": result.distinct, "total": result.generated, "depth": result.depth}
    if model.simulate:
        return {}
    if model.workers > 1:
        del found["depth"]
    return {name: number for name, number in found.items() if number is not None}


def record(path: Path, name: str, values: Mapping[str, int | str]) -> None:
    """Set fields of an entry of a manifest.

    Parameters
    ----------
    path : Path
        The manifest.
    name : str
        The model.
    values : mapping
        Fields and what they shall be.

    Raises
    ------
    ValueError
        If there is no such model, or no such field.
    """
    from latchfree_support.publishing import publish_file  # models are imported with nothing but Python's own

    head, *entries = path.read_text(encoding="utf-8").split(_ENTRY)
    for k, entry in enumerate(entries):
        if f'name = "{name}"\n' in entry:
            for field, value in values.items():
                entry = _with(entry, field, value)
            entries[k] = entry
            break
    else:
        raise ValueError(f"{path}: there is no model {name!r}")
    publish_file(path, _ENTRY.join([head, *entries]).encode())


def _with(entry: str, field: str, value: int | str) -> str:
    """Return an entry in which a field has a value."""
    if field not in ORDER:
        raise ValueError(f"a model has no field {field!r}; the fields are {', '.join(ORDER)}")
    line = f'{field} = "{value}"' if isinstance(value, str) else f"{field} = {value}"
    for found in _FIELD.finditer(entry):
        if found[1] == field:
            return entry[: found.start()] + line + entry[entry.index("\n", found.start()) :]
        if ORDER.index(found[1]) > ORDER.index(field):
            return entry[: found.start()] + line + "\n" + entry[found.start() :]
    raise ValueError(f"an entry ends with its summary: {entry!r}")
