"""The litmus tests of ``litmus.toml``, with the verdicts of the literature, and the same questions asked of the axioms.

>>> from latchfree_explore.weak.suite import find
>>> test = find("SB")
>>> str(test.program)
'store x 1; load y | store y 1; load x'
>>> test.expected
('tso', 'sra', 'rc11')
>>> test.judged
('tso', 'sra', 'rc11')
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from latchfree_explore.weak.axioms import MODELS, Model
from latchfree_explore.weak.exploring import explore
from latchfree_explore.weak.outcomes import Condition, outcome_of, parse_condition
from latchfree_explore.weak.programs import Program, parse_program

FILE: Final = Path(__file__).with_name("litmus.toml")


class Source(NamedTuple):
    """Where verdicts come from.

    Attributes
    ----------
    name : str
    text : str
        The paper or the file; for what is derived, the argument.
    derived : bool
        Whether the verdict follows from a published statement, and does not itself stand there.
    """

    name: str
    text: str
    derived: bool


class Verdict(NamedTuple):
    """What the literature says of one test and one model.

    Attributes
    ----------
    allowed : bool
    source : Source
    detail : str
        Which test of the source, or what the argument speaks of.
    """

    allowed: bool
    source: Source
    detail: str

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.source.name, self.detail)))


@dataclass(frozen=True)
class Litmus:
    """One litmus test.

    Attributes
    ----------
    name : str
    family : str
    program : Program
    weak : Condition
        The outcome in question.
    verdicts : mapping of model to Verdict
        What the literature says; empty for a program of one's own.
    """

    name: str
    family: str
    program: Program
    weak: Condition
    verdicts: Mapping[Model, Verdict]

    @property
    def expected(self) -> tuple[Model, ...]:
        """The models that allow the weak outcome, by the literature."""
        return tuple(model for model in MODELS if model in self.verdicts and self.verdicts[model].allowed)

    @property
    def judged(self) -> tuple[Model, ...]:
        """The models that allow the weak outcome, by the axioms."""
        return tuple(model for model in MODELS if may_happen(self.program, self.weak, model))

    @property
    def differences(self) -> tuple[Model, ...]:
        """The models of which axioms and literature say different things."""
        judged = self.judged
        return tuple(model for model in self.verdicts if (model in judged) != self.verdicts[model].allowed)


def may_happen(program: Program, weak: Condition, model: Model) -> bool:
    """Return whether a model allows an outcome of a program that satisfies a condition."""
    threads = len(program.threads)
    return any(weak.holds(outcome_of(graph, threads)) for graph in explore(program, model))


@cache
def load_suite() -> tuple[Litmus, ...]:
    """Return the tests of ``litmus.toml``, in its order."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    sources = {name: Source(name, each["text"], each["derived"]) for name, each in document["sources"].items()}
    return tuple(_test(each, sources) for each in document["test"])


def find(name: str) -> Litmus:
    """Return the test of a name.

    Parameters
    ----------
    name : str
        Upper or lower case.

    Returns
    -------
    Litmus

    Raises
    ------
    ValueError
        If there is none; the message names similar ones.
    """
    by_name = {test.name.lower(): test for test in load_suite()}
    if name.lower() in by_name:
        return by_name[name.lower()]
    near = [by_name[each].name for each in get_close_matches(name.lower(), by_name, 3, 0.5)]
    raise ValueError(f"no litmus test {name!r}" + (f"; similar: {', '.join(near)}" if near else ""))


def load_tests(text: str) -> tuple[Litmus, ...]:
    """Read tests of one's own.

    Parameters
    ----------
    text : str
        TOML, like ``litmus.toml``: tables ``[[test]]`` with `name`, `program` and `weak`. For each model `sc`, `tso`,
        `sra`, `rc11` that is given, "allowed" or "forbidden" says what is expected.

    Returns
    -------
    tuple of Litmus

    Raises
    ------
    ValueError
        If the text is not like that; the message names the test.
    """
    document = tomllib.loads(text)
    entries = document.get("test", [])
    if set(document) - {"test"} or not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise ValueError("there should be tables [[test]] with name, program and weak, and nothing else")
    own = {"expected": Source("expected", "The file says so.", derived=False)}
    return tuple(_own(number, each, own) for number, each in enumerate(entries))


def _own(number: int, entry: Mapping[str, Any], sources: Mapping[str, Source]) -> Litmus:
    where = f"test {entry.get('name', number)}"
    for key in ("program", "weak"):
        if key not in entry:
            raise ValueError(f"{where}: has no {key}")
    for key, value in entry.items():
        if key not in ("name", "family", "program", "weak", *MODELS) or not isinstance(value, str):
            known = ", ".join(("name", "family", "program", "weak", *MODELS))
            raise ValueError(f"{where}: {key} = {value!r}: there are {known}, all strings")
        if key in MODELS and value not in ("allowed", "forbidden"):
            raise ValueError(f"{where}: {key} = {value!r}: should be allowed or forbidden")
    try:
        program = parse_program(entry["program"])
        weak = parse_condition(entry["weak"], program)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    verdicts = {model: _verdict(f"{entry[model]}: expected", sources) for model in MODELS if model in entry}
    return Litmus(entry.get("name", str(number)), entry.get("family", ""), program, weak, verdicts)


def _test(entry: Mapping[str, Any], sources: Mapping[str, Source]) -> Litmus:
    program = parse_program(entry["program"])
    verdicts = {model: _verdict(entry[model], sources) for model in MODELS}
    return Litmus(entry["name"], entry["family"], program, parse_condition(entry["weak"], program), verdicts)


def _verdict(text: str, sources: Mapping[str, Source]) -> Verdict:
    word, _, rest = text.partition(": ")
    name, _, detail = rest.partition(", ")
    if word not in ("allowed", "forbidden") or name not in sources:
        raise ValueError(f"{FILE.name}: {text!r} is not like 'allowed: SOURCE, what of it'")
    return Verdict(word == "allowed", sources[name], detail)
