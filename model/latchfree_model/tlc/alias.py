"""Say each state of a counterexample in a few words: what the operator ``Alias`` of the module makes of it.

Example: of a state of the map, with all registers of each process, ``Alias`` says what each process is about to do,
what the trie holds, and whether an update is pending.

TLC prints the values of an alias itself, if the configuration says ``ALIAS Alias`` and TLC is newer than 2.15, which
refuses the word. So that any TLC will do, TLC is run once more, on a module that extends the one at hand: it goes
through the states of the counterexample, one after the other, and a variable holds what ``Alias`` says.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from latchfree_model.tlc.config import COMMENT
from latchfree_model.tlc.manifest import SpecModel
from latchfree_model.tlc.run import run_model
from latchfree_model.tlc.trace import Trace
from latchfree_model.tlc.values import Function, Value, show

OPERATOR: Final = "Alias"
_TOLD: Final = "told_by_alias"
_NUMBER: Final = "state_number"
_SECTIONS: Final = re.compile(
    r"\b(CONSTANTS?|SPECIFICATION|INIT|NEXT|INVARIANTS?|PROPERTY|PROPERTIES|CONSTRAINTS?|ACTION_CONSTRAINTS?"
    r"|SYMMETRY|VIEW|ALIAS|CHECK_DEADLOCK)\b"
)


class NoAlias(RuntimeError):
    """The module has no alias, or TLC cannot evaluate it."""


def told_by_alias(spec: SpecModel, trace: Trace, *, timeout: float | None = None) -> tuple[Value, ...]:
    """Return what ``Alias`` says of each state of a counterexample.

    Parameters
    ----------
    spec : SpecModel
        The model that the counterexample is of.
    trace : Trace
        The counterexample.
    timeout : float, optional
        Seconds after which TLC is stopped.

    Raises
    ------
    NoAlias
        If the module has none, or TLC cannot evaluate it.
    ToolMissing
        If there is no Java or no TLC.
    """
    module, config = (spec.root / spec.module).resolve(), (spec.root / spec.config).resolve()
    states = [state.variables for state in trace.states]
    with TemporaryDirectory(prefix="latchfree-alias-") as folder:
        place = Path(folder)
        (place / "Told.tla").write_text(_module(module.stem, list(states[0]), states), encoding="utf-8")
        (place / "Told.cfg").write_text(_config(config.read_text(encoding="utf-8")), encoding="utf-8")
        told, constants = str(place / "Told.tla"), str(place / "Told.cfg")
        again = replace(spec, module=told, config=constants, simulate=None, distinct=len(states))
        result = run_model(again, timeout=timeout, workers=1)
    found = () if result.trace is None else tuple(state.variables.get(_TOLD, "") for state in result.trace.states)
    if result.property != "NotTheLast" or len(found) != len(states):
        why = " ".join([result.reason, *result.errors])[:300]
        raise NoAlias(f"{module.name}: TLC cannot say {OPERATOR} of the counterexample: {why or result.verdict}")
    return found


def _module(name: str, variables: Sequence[str], states: Sequence[Mapping[str, Value]]) -> str:
    def all_of(prime: str, state: str) -> str:
        return " /\\ ".join(f"{each}{prime} = {state}.{each}" for each in variables)

    records = (show(Function({each: state[each] for each in variables})) for state in states)
    lines = [
        "---- MODULE Told ----",
        f"EXTENDS {name}, Sequences, TLC",
        f"VARIABLES {_NUMBER}, {_TOLD}",
        "ToldStates == <<",
        ",\n".join(records),
        ">>",
        f"ToldInit == {_NUMBER} = 1 /\\ {all_of('', 'ToldStates[1]')} /\\ {_TOLD} = {OPERATOR}",
        f"ToldNext == /\\ {_NUMBER} < {len(states)}",
        f"            /\\ {_NUMBER}' = {_NUMBER} + 1",
        f"            /\\ {all_of(chr(39), f'ToldStates[{_NUMBER} + 1]')}",
        f"            /\\ {_TOLD}' = {OPERATOR}'",
        f"NotTheLast == {_NUMBER} < {len(states)}",
        "====",
        "",
    ]
    return "\n".join(lines)


def _config(text: str) -> str:
    """Return the constants of a configuration, for the module that goes through the states."""
    parts = _SECTIONS.split(COMMENT.sub(" ", text))
    kept = [f"{name}{body}" for name, body in zip(parts[1::2], parts[2::2], strict=True) if name.startswith("CONSTANT")]
    return "\n".join([*kept, "INIT ToldInit", "NEXT ToldNext", "INVARIANT NotTheLast", ""])
