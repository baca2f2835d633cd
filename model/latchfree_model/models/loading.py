"""Models of your own, by the name ``module:Name``.

Example: ``load_model("my.stack:BoundedStack")`` imports ``my.stack`` and makes a ``BoundedStack()``. From then on
`get_model` knows the model under that name, wherever a model's name is taken.

Only a name that a person gives is loaded. `get_model` alone imports nothing, since names of models also stand in files
of histories: a file must not choose what code runs.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Final

from latchfree_model.models import LOADED, get_model
from latchfree_model.models.base import SequentialModel

_METHODS: Final = ("init", "step", "describe", "partition", "validate", "effectless")


def load_model(name: str) -> SequentialModel[Any]:
    """Return the model called `name`: a built-in one, or the one that ``module:Name`` names.

    Parameters
    ----------
    name : str
        What `get_model` takes, or ``module:Name`` for a class without parameters, or a model, in a module that can be
        imported.

    Raises
    ------
    ValueError
        If there is none; the message says where it was looked for.
    """
    try:
        return get_model(name)
    except ValueError as error:
        module, colon, attribute = name.partition(":")
        if not colon or not all(part.isidentifier() for part in (*module.split("."), attribute)):
            raise ValueError(f"{error}; a model of your own is module:Name") from None
    try:
        found = getattr(importlib.import_module(module), attribute)
        made: Any = found() if inspect.isclass(found) else found
    except ModuleNotFoundError as error:
        raise ValueError(f"the model {name!r}: {error}; name the file with --py-files, or set PYTHONPATH") from None
    except Exception as error:
        raise ValueError(f"the model {name!r} cannot be loaded: {type(error).__name__}: {error}") from None
    missing = [method for method in _METHODS if not callable(getattr(made, method, None))]
    if missing or not isinstance(getattr(made, "name", None), str):
        what = ", ".join(missing) or "name"
        raise ValueError(f"{name!r} is no model: it has no {what}; derive it from latchfree_model.SequentialModel")
    LOADED[name] = made
    loaded: SequentialModel[Any] = made
    return loaded
