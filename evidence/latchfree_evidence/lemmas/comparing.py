"""Compare compiled functions with the same functions on symbolic words, on random numbers.

A lemma is proved of a function as Python runs it on words. What users run is what numba compiles of it. So a lemma is
also run with numbers in place of its unknown words: each function that it calls is called twice, once on words and once
compiled, and must return the same and leave the same memory behind.

Every case of the lemma is run with random numbers, and every path of the proof with numbers that go down that path: Z3
finds them. Random numbers alone rarely meet a path that asks for two equal words.

What a lemma abstracts from, such as the allocation of a node, has no compiled counterpart. The answers that the lemma
gives are written on a tape, and the compiled function is made of the same Python function with stubs in it, which read
the tape. Numba compiles such a function anew in each process: its source does not tell it from the real one, so the
cache of `latchfree.jit` must not keep it.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final

import numpy as np
import z3

from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code
from latchfree_evidence.symbolic.lemma import Case, Excluded, Lemma
from latchfree_evidence.symbolic.paths import each_path
from latchfree_evidence.symbolic.words import BITS, Truth, Undefined, Word
from latchfree_support.solving import ask, leave_ctrl_c

_MASK: Final = (1 << BITS) - 1
_POISON: Final = 0xA5A5_5A5A_F00D_BEEF
_SIZE: Final = 1 << 16
"""Words of a memory; no lemma uses an offset beyond."""
_CASES: Final = 8
"""A lemma of fewer cases than that is run more often in each of them."""
_LEAST: Final = 2

_TAPE: Final = np.zeros(4096, np.uint64)
"""How many answers were read, then the answers."""


class Differs(AssertionError):
    """A compiled function and the same on words do not do the same."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing the functions of a lemma.

    Attributes
    ----------
    calls : int
        The calls that were made twice.
    cases, runs : int
        The cases of the lemma, all run, and the runs with random numbers within its assumptions.
    paths : int
        The paths of the proof, each run once.
    functions : tuple of str
        The functions that were called.
    """

    calls: int
    cases: int
    runs: int
    paths: int
    functions: tuple[str, ...]


def compare(lemma: Lemma, code: Code, *, trials: int, seed: int, sample: int | None = None) -> Comparison:
    """Run a lemma on random numbers, calling each function also compiled.

    Parameters
    ----------
    lemma : Lemma
        The lemma.
    code : Code
        The code, without a wrong twin.
    trials : int
        Runs of each of eight cases. Of more cases each is run less often, but twice at least.
    seed : int
        The seed of the numbers.
    sample : int, optional
        Of more cases than that, so many are drawn for the runs down each path; else all.

    Returns
    -------
    Comparison

    Raises
    ------
    Differs
        If a compiled function does something else.
    """
    rng = random.Random(f"{seed} {lemma.name}")
    calls: list[str] = []

    def run(fixed: Mapping[str, int], values: Mapping[str, int]) -> bool:
        try:
            lemma.state(_Trial(rng, values), _Compared(code, {}, calls, [], rng), **fixed)
        except (Excluded, Undefined):
            return False
        return True

    cases = list(lemma.cases())
    each = max(_LEAST, trials * _CASES // len(cases))
    runs = sum(run(fixed, {}) for fixed in cases for _ in range(each))
    paths = 0
    drawn_cases = cases if sample is None or len(cases) <= sample else rng.sample(cases, sample)
    for fixed, values in _each_path(lemma, code, drawn_cases):
        if not run(fixed, values):
            raise Differs(f"{lemma.name}: the numbers {values} of a path do not go down any")
        paths += 1
    return Comparison(len(calls), len(cases), runs, paths, tuple(sorted(set(calls))))


def _each_path(
    lemma: Lemma, code: Code, cases: Sequence[Mapping[str, int]]
) -> Iterator[tuple[Mapping[str, int], Mapping[str, int]]]:
    """Yield, for each path of the proof within the assumptions, the case and numbers that go down the path."""
    solver = leave_ctrl_c(z3.SolverFor(lemma.logic))
    for fixed in cases:
        solver.push()
        names: dict[str, Any] = {}

        def run(fixed: Mapping[str, int] = fixed, names: dict[str, Any] = names) -> bool:
            try:
                lemma.state(Case(solver, names), code, **fixed)
            except Excluded:
                return False
            return True

        for within in each_path(run, solver):
            if within and ask(solver.ctx, solver.check) == z3.sat:
                model = solver.model()
                yield fixed, {name: model.eval(word, model_completion=True).as_long() for name, word in names.items()}
        solver.pop()


class _Trial(Case):
    """A run with numbers; whether the claims hold is for the proof to say."""

    def __init__(self, rng: random.Random, values: Mapping[str, int]) -> None:
        super().__init__(None, {})
        self._rng = rng
        self._drawn = {name: Word(value) for name, value in values.items()}

    def word(self, name: str, *, below: int | None = None) -> Word:
        """Return a random word, the same for the same name: often at one of the ends, or with few bits."""
        if name not in self._drawn:
            self._drawn[name] = Word(drawn(self._rng, (below or _MASK + 1) - 1))
        return self._drawn[name]

    def given(self, condition: Truth | bool) -> None:
        """Do nothing: numbers are what they are."""

    def claim(self, what: str, condition: Truth | bool) -> None:
        """Do nothing."""


def drawn(rng: random.Random, most: int) -> int:
    """Return a random number of 0 to `most`: any, or one near an end, or with one or two bits set."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice((rng.randrange(min(most, 4) + 1), most - rng.randrange(min(most, 4) + 1)))
    bits = rng.getrandbits(BITS) if kind < 3 else (1 << rng.randrange(BITS)) | (1 << rng.randrange(BITS))
    return bits % (most + 1)


class _Compared(Code):
    """Code whose functions are called twice."""

    def __init__(
        self,
        code: Code,
        stubs: Mapping[str, Callable[..., Any]],
        calls: list[str],
        tape: list[int],
        rng: random.Random,
    ) -> None:
        self._code, self._stubs, self._calls, self._tape, self._rng = code, stubs, calls, tape, rng

    def abstracting(self, **meaning: Callable[..., Any]) -> Code:
        """Return the same code with more functions replaced; their answers go on the tape."""

        def taped(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                answer = function(*arguments)
                self._tape.append(int(answer))
                return answer

            return call

        replaced = {name: taped(function) for name, function in meaning.items()}
        return _Compared(
            self._code.abstracting(**replaced), {**self._stubs, **meaning}, self._calls, self._tape, self._rng
        )

    def __getitem__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what calls a function on words and compiled, and returns what came of the words."""
        symbolic, machine = self._code[function], _compiled(function, frozenset(self._stubs))
        python: Any = getattr(function, "py_func", function)
        kinds = [getattr(each, "__name__", str(each)) for each in _kinds(python)]

        def call(*arguments: Any) -> Any:
            images = {id(each): _Image(each) for each in arguments if isinstance(each, SymbolicMemory)}
            given = [
                images[id(each)].given(kind) if isinstance(each, SymbolicMemory) else _number(each, kind)
                for each, kind in zip(arguments, kinds, strict=True)
            ]
            self._tape.clear()
            answer = symbolic(*arguments)
            _TAPE[0] = 0
            _TAPE[1 : len(self._tape) + 1] = self._tape
            found = machine(*given)
            self._calls.append(python.__name__)
            _agree(python.__name__, arguments, answer, found)
            if int(_TAPE[0]) != len(self._tape):
                raise Differs(f"{python.__name__}{arguments}: compiled it calls {_TAPE[0]} of {len(self._tape)}")
            for image in images.values():
                image.agree(python.__name__)
            return answer

        return call


def _kinds(python: FunctionType) -> list[Any]:
    """Return what the parameters of a function are annotated with."""
    return [each.annotation for each in inspect.signature(python).parameters.values()]


def _number(value: Any, kind: str) -> Any:
    return bool(value) if kind == "Flag" else np.uint64(int(value))


def _agree(name: str, arguments: tuple[Any, ...], answer: Any, found: Any) -> None:
    """Compare what was returned."""
    if isinstance(answer, tuple):
        for one, other in zip(answer, found, strict=True):
            _agree(name, arguments, one, other)
    elif answer is None or found is None:
        if answer is not found:
            raise Differs(f"{name}{arguments} is {answer} on words, and compiled {found}")
    elif int(answer) != int(found) & _MASK:
        raise Differs(f"{name}{arguments} is {int(answer):#x} on words, and compiled {int(found) & _MASK:#x}")


class _Image:
    """A memory of a lemma as memory of the machine; what the lemma has not written is poison."""

    def __init__(self, memory: SymbolicMemory) -> None:
        self._memory = memory
        self._words = np.full(_SIZE, _POISON, np.uint64)
        for at, word in memory.words.items():
            self._words[at] = int(word)

    def given(self, kind: str) -> Any:
        """Return it as an argument of this kind."""
        return self._words if kind == "Array" or "ndarray" in kind else np.uint64(self._words.ctypes.data)

    def agree(self, name: str) -> None:
        """Compare what was written."""
        expected = np.full(_SIZE, _POISON, np.uint64)
        for at, word in self._memory.words.items():
            expected[at] = int(word)
        for at in np.flatnonzero(expected != self._words)[:1]:
            raise Differs(f"{name}: word {at} is {expected[at]:#x} on words, and compiled {self._words[at]:#x}")


_MADE: dict[tuple[Any, frozenset[str]], Any] = {}


def _compiled(function: Any, stubs: frozenset[str]) -> Any:
    """Return a function to be compiled with stubs in place of these; the function itself if it calls none of them."""
    key = (function, stubs)
    if key not in _MADE:
        python = function.py_func
        scope = dict(python.__globals__)
        names = [name for name in python.__code__.co_names if name in scope]
        stubbed = [name for name in names if name in stubs]
        others = {name: _compiled(scope[name], stubs) for name in names if hasattr(scope[name], "py_func")}
        changed = {name: other for name, other in others.items() if name not in stubs and other is not scope[name]}
        if not stubbed and not changed:
            _MADE[key] = function
        else:
            from latchfree.jit import start

            njit = start().njit
            scope.update(changed, **{name: _stub() for name in stubbed})
            _MADE[key] = njit(FunctionType(python.__code__, scope, python.__name__))
    return _MADE[key]


def _stub() -> Any:
    """Return a compiled function that answers what is next on the tape."""
    from latchfree.atomics import peek, poke
    from latchfree.jit import start

    tape, one = np.uint64(_TAPE.ctypes.data), np.uint64(1)

    def stub(*arguments: Any) -> Any:
        at = peek(tape, np.uint64(0)) + one
        poke(tape, np.uint64(0), at)
        return peek(tape, at)

    return start().njit(stub)
