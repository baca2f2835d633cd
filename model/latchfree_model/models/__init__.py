"""Sequential models in plain Python: what an object does when one thread uses it alone."""

from types import MappingProxyType
from typing import Any, Final

from latchfree_model.models.append_kv import AppendKvModel
from latchfree_model.models.base import UNKNOWN, Call, Model, SequentialModel
from latchfree_model.models.cas_register import CasRegisterModel
from latchfree_model.models.map import MapModel
from latchfree_model.models.register import RegisterModel

__all__ = [
    "MODELS",
    "UNKNOWN",
    "AppendKvModel",
    "Call",
    "CasRegisterModel",
    "MapModel",
    "Model",
    "RegisterModel",
    "SequentialModel",
    "get_model",
]

MODELS: Final[MappingProxyType[str, SequentialModel[Any]]] = MappingProxyType(
    {model.name: model for model in (MapModel(), RegisterModel(), CasRegisterModel(), AppendKvModel())}
)
"""Every model, by name."""


def get_model(name: str) -> SequentialModel[Any]:
    """Return the model called `name`.

    Raises
    ------
    ValueError
        If there is none; the message lists the names.
    """
    try:
        return MODELS[name]
    except KeyError:
        raise ValueError(f"no model is called {name!r}; the models are {', '.join(MODELS)}") from None
