"""Sequential models of concurrent objects, and the driver of the TLA+ model checker."""

from latchfree_model.models import (
    MODELS,
    UNKNOWN,
    AppendKvModel,
    Call,
    CasRegisterModel,
    MapModel,
    Model,
    RegisterModel,
    SequentialModel,
    get_model,
)

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
