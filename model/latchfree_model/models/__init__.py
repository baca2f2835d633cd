"""Sequential models in plain Python: what an object does when one thread uses it alone."""

from types import MappingProxyType
from typing import Any, Final

from latchfree_model.models.append_kv import AppendKvModel
from latchfree_model.models.base import BLOCKED, UNKNOWN, Call, Model, SequentialModel
from latchfree_model.models.compiled import CompiledModel
from latchfree_model.models.limits import TokenBucketModel
from latchfree_model.models.map import MapModel
from latchfree_model.models.nondeterministic import NondeterministicModel, define
from latchfree_model.models.queues import BoundedQueueModel, PriorityQueueModel, QueueModel, StackModel
from latchfree_model.models.registers import CasRegisterModel, CounterModel, MutexModel, RegisterModel
from latchfree_model.models.set import SetModel
from latchfree_model.models.topic_index import TopicIndexModel
from latchfree_model.models.words import NOTHING, fits

__all__ = [
    "BLOCKED",
    "MODELS",
    "NOTHING",
    "UNKNOWN",
    "AppendKvModel",
    "BoundedQueueModel",
    "Call",
    "CasRegisterModel",
    "CompiledModel",
    "CounterModel",
    "MapModel",
    "Model",
    "MutexModel",
    "NondeterministicModel",
    "PriorityQueueModel",
    "QueueModel",
    "RegisterModel",
    "SequentialModel",
    "SetModel",
    "StackModel",
    "TokenBucketModel",
    "TopicIndexModel",
    "define",
    "fits",
    "get_model",
]

MODELS: Final[MappingProxyType[str, SequentialModel[Any]]] = MappingProxyType({
    model.name: model
    for model in (
        MapModel(), RegisterModel(), CasRegisterModel(), AppendKvModel(), SetModel(), CounterModel(), QueueModel(),
        BoundedQueueModel(), StackModel(), PriorityQueueModel(), MutexModel(), TopicIndexModel(),
        TokenBucketModel(),
    )
})  # fmt: skip
"""Every model, by name."""


LOADED: Final[dict[str, SequentialModel[Any]]] = {}
"""Models of the user's own that were loaded, by ``module:Name``."""


def get_model(name: str) -> SequentialModel[Any]:
    """Return the model called `name`: a name of `MODELS`, or one with a parameter.

    Those are ``bounded-queue:CAPACITY``, ``token-bucket:BURST`` and ``topic-index:DIALECT``.

    A model of your own that `latchfree_model.models.loading.load_model` has loaded is known, too.

    Raises
    ------
    ValueError
        If there is none; the message lists the names.
    """
    kind, colon, parameter = name.partition(":")
    if not colon and kind in MODELS:
        return MODELS[kind]
    if colon and kind == "bounded-queue" and parameter.isdecimal():
        return _registered(BoundedQueueModel(int(parameter)))
    if colon and kind == "token-bucket" and parameter.isdecimal():
        return _registered(TokenBucketModel(int(parameter)))
    if colon and kind == "topic-index":
        return _registered(TopicIndexModel(parameter))
    if name in LOADED:
        return LOADED[name]
    raise ValueError(
        f"no model is called {name!r}; the models are {', '.join(MODELS)}, bounded-queue:CAPACITY, "
        "token-bucket:BURST, topic-index:DIALECT"
    )


def _registered(model: SequentialModel[Any]) -> SequentialModel[Any]:
    return MODELS.get(model.name, model)
