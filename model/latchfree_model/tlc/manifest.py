"""The list of bounded models, with the verdict and the counts that TLC must report for each."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "profile": ("quick", "full", "deep"),
    "expect": ("ok", "violation"),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class SpecModel:
    """One bounded model: a module, a configuration, and what checking it must yield.

    Parameters
    ----------
    root : Path
        The folder of the manifest; `module` and `config` are relative to it.
    name, module, config : str
        The unique name, the module's file and the configuration's file.
    profile : {"quick", "full", "deep"}
        Whether a run takes seconds, minutes, or more.
    expect : {"ok", "violation"}
        The verdict that it must have.
    property : str
        What it checks; for a violation the name of the violated property (``Deadlock`` for a deadlock).
    summary : str
        One line for the reader.
    distinct, total, depth : int, optional
        The distinct states, the states generated, and the depth that TLC must report.
    workers : int
        TLC's worker threads; one, where the counts of a violation must be reproducible.
    mutant : str, optional
        The mutant that it shows to be wrong.
    seconds : int, optional
        How long it took, where that is worth knowing beforehand.
    date : str, optional
        When that was, as ``2026-11-21``.
    simulate : int, optional
        Seconds of random behaviours, for a model that is too large to try everything; 90 or more, since TLC says
        once a minute how far it is. Such a model has no sizes.
    steps : int, optional
        The length of each random behaviour.
    """

    root: Path
    name: str
    module: str
    config: str
    profile: Literal["quick", "full", "deep"]
    expect: Literal["ok", "violation"]
    property: str
    summary: str
    distinct: int | None = None
    total: int | None = None
    depth: int | None = None
    workers: int = 1
    mutant: str | None = None
    seconds: int | None = None
    date: str | None = None
    simulate: int | None = None
    steps: int | None = None


NUMBERS = ("distinct", "total", "depth", "workers", "seconds", "simulate", "steps")
SHORTEST = 90
"""Seconds that a simulation takes at least."""
FIELDS = tuple(field for field in fields(SpecModel) if field.name != "root")


def load_manifest(path: Path) -> list[SpecModel]:
    """Read a manifest.

    Raises
    ------
    ValueError
        If it is malformed; the message names the entry and the field.
    FileNotFoundError
        If there is no such file.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected TOML: {error}") from None
    entries = document.pop("model", None)
    if document or not isinstance(entries, list) or not entries:
        raise ValueError(f"{path}: expected [[model]] entries and nothing else")
    models: list[SpecModel] = []
    for index, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise ValueError(f"{path}: model {index}: expected a table, got {entry!r}")
        model = _model(path, f"model {entry.get('name', index)!r}", entry)
        if any(other.name == model.name for other in models):
            raise ValueError(f"{path}: model {model.name!r}: name: two models have this name")
        models.append(model)
    return models


def _model(path: Path, where: str, entry: dict[str, object]) -> SpecModel:
    for field in FIELDS:
        if field.name in entry:
            _check(f"{path}: {where}: {field.name}", field.name, entry[field.name])
        elif field.default is MISSING:
            raise ValueError(f"{path}: {where}: {field.name}: missing")
    for name in set(entry) - {field.name for field in FIELDS}:
        raise ValueError(f"{path}: {where}: {name}: no such field; the fields are {', '.join(f.name for f in FIELDS)}")
    for name in ("module", "config"):
        if not (path.parent / str(entry[name])).is_file():
            raise ValueError(f"{path}: {where}: {name}: no such file: {entry[name]}")
    seconds = entry.get("simulate")
    if isinstance(seconds, int) and seconds < SHORTEST:
        raise ValueError(f"{path}: {where}: simulate: expected a number of at least {SHORTEST}, got {seconds}")
    if (seconds is None) != ("steps" not in entry):
        raise ValueError(f"{path}: {where}: simulate and steps: give both, or none")
    return SpecModel(root=path.parent, **cast("dict[str, str]", entry))  # type: ignore[arg-type]


def _check(where: str, name: str, value: object) -> None:
    """Raise ValueError unless `value` fits the field."""
    if name in NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{where}: expected a number of at least 1, got {value!r}")
    elif not isinstance(value, str) or not value:
        raise ValueError(f"{where}: expected text, got {value!r}")
    elif value not in CHOICES.get(name, (value,)):
        raise ValueError(f"{where}: expected {' or '.join(map(repr, CHOICES[name]))}, got {value!r}")
