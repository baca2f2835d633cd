"""The step of a user's own model as machine code: a C function of the words of a call, a state and the next state."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba.core.errors import NumbaError
from numba.extending import register_jitable

from latchfree.jit import callback, kernel
from latchfree_lincheck.engine.compiled_models.own import CALL_WORDS, CALLS, FAILED, HELD, STEP, WORDS
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import CompiledModel, fits

_WORD: Final = numba.types.int64
_POINTER: Final = numba.types.CPointer(_WORD)  # type: ignore[no-untyped-call]

_WRAPPER: Final = """
def wrapper(call, state, after):
    try:
        legal, following = step({state}, call[0], {argument}, call[{result}])
    except Exception:
        return -1
{writes}
    return 1 if legal else 0
"""

register_jitable(fits)

_lock = threading.Lock()
_compiled: WeakKeyDictionary[CompiledModel, Any] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Own:
    """A compiled step and the calls of a history.

    Parameters
    ----------
    model : CompiledModel
        The model.
    code : object
        The machine code, kept alive.
    calls : int64[m, words]
        The calls as words.
    """

    model: CompiledModel
    code: Any
    calls: Ints

    @classmethod
    def of(cls, model: CompiledModel, calls: Ints) -> Own:
        """Compile the step of a model, or take what was compiled before; see `compile_step`."""
        return cls(model, compile_step(model), calls)

    def shape(self) -> Ints:
        """Return the shape of a state, with room for two of them."""
        words = len(_parts(self.model.init()))
        shape: Ints = np.zeros(HELD + 2 * words, np.int64)
        shape[STEP], shape[CALLS] = self.code.address, self.calls.ctypes.data
        shape[CALL_WORDS], shape[WORDS] = self.calls.shape[1], words
        return shape

    def require_no_failure(self, shape: Ints) -> None:
        """Raise ValueError if the step failed, or changed a state that it must not."""
        failed = int(shape[FAILED])
        if failed:
            words = len(_parts(self.model.init()))
            state = tuple(shape[HELD : HELD + words].tolist())
            call = tuple(self.calls[abs(failed) - 1].tolist())
            name, told = self.model.name, self.model.told(call)
            if failed < 0:
                raise ValueError(
                    f"step of {name!r} changes the state on {told}, which readonly or failures say it does not"
                )
            self.model.apply_words(state if isinstance(self.model.init(), tuple) else state[0], call)
            raise ValueError(f"step of {name!r} fails on {told} when it is compiled")


def _parts(state: object) -> tuple[object, ...]:
    return state if isinstance(state, tuple) else (state,)


def compile_step(model: CompiledModel) -> Any:
    """Return the step as a C function; its address is the attribute ``address``.

    Raises
    ------
    ValueError
        If the step cannot be compiled, or returns something else than a truth value and a state.
    """
    with _lock:
        code = _compiled.get(model)
        if code is None:
            code = _compiled[model] = _compile(model)
        return code


def _compile(model: CompiledModel) -> Any:
    several = isinstance(model.init(), tuple)
    words = len(_parts(model.init()))
    state = _kind(words) if several else _WORD
    argument = _kind(model.arguments) if model.arguments > 1 else _WORD
    function = model.function
    step: Any = function if hasattr(function, "py_func") else kernel(function)
    types = (state, _WORD, argument, _WORD)
    try:
        step.compile(types)
    except NumbaError as error:
        raise ValueError(
            f"step of {model.name!r} cannot be compiled ({_place(step.py_func, error)}): {_fault(error)}. A step may "
            "use integers, truth values, tuples, conditions and loops, and call functions that are compiled by numba"
        ) from None
    _require_state(model.name, step.overloads[types].signature.return_type, words, several)
    source = _WRAPPER.format(
        state=f"({' '.join(f'state[{place}],' for place in range(words))})" if several else "state[0]",
        argument=f"({' '.join(f'call[{1 + place}],' for place in range(model.arguments))})"
        if model.arguments > 1
        else "call[1]",
        result=1 + max(model.arguments, 1),
        writes="\n".join(
            f"    after[{place}] = following[{place}]" if several else "    after[0] = following"
            for place in range(words)
        ),
    )
    made: dict[str, Callable[..., Any]] = {}
    exec(compile(source, "<wrapper of a step>", "exec"), {"step": step}, made)
    return callback(_WORD(_POINTER, _POINTER, _POINTER), made["wrapper"])


def _kind(words: int) -> Any:
    """Return the numba type of a tuple of words."""
    return numba.types.UniTuple(_WORD, words)  # type: ignore[no-untyped-call]


def _require_state(name: str, returned: Any, words: int, several: bool) -> None:
    """Raise ValueError unless a step returns a truth value and a state of as many words as the initial one."""
    pair = _members(returned)
    state = _members(pair[1]) if len(pair) == 2 else []
    parts = state if several else pair[1:]
    sound = len(pair) == 2 and len(parts) == (words if several else 1)
    if not sound or not all(isinstance(part, numba.types.Boolean | numba.types.Integer) for part in (pair[0], *parts)):
        wanted = f"a tuple of {words} integers" if several else "an integer"
        raise ValueError(
            f"step of {name!r} returns {_told(returned)}: expected (whether the call is legal, the next state), where "
            f"the state is {wanted}"
        )


def _members(kind: Any) -> list[Any]:
    """Return the types in the type of a tuple; none if it is another type."""
    return [*kind] if isinstance(kind, numba.types.BaseTuple) else []  # type: ignore[misc]


def _told(kind: Any) -> str:
    """Return a numba type as text: ``(bool, int64)``."""
    members = _members(kind)
    if members:
        return f"({', '.join(map(_told, members))})"
    return str(numba.types.unliteral(kind))  # type: ignore[no-untyped-call]


def _place(function: Callable[..., Any], error: Exception) -> str:
    """Return the file and line of a function where numba found a fault."""
    code = inspect.unwrap(function).__code__
    lines = re.findall(rf'File "[^"]*{re.escape(Path(code.co_filename).name)}", line (\d+)', str(error))
    return f"{code.co_filename}:{lines[-1] if lines else code.co_firstlineno}"


def _fault(error: Exception) -> str:
    """Return the lines of numba's message that say what is wrong."""
    lines = [line.strip() for line in str(error).partition('\nFile "')[0].splitlines()]
    told = [
        line for line in lines if line and not line.startswith(("Failed in", "During:", "<source", "^", "There are"))
    ]
    return "; ".join(told[:2]).rstrip(".:")
