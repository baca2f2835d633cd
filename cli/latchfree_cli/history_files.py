"""Read the histories and choose the model of a file that a command was given."""

from pathlib import Path
from typing import TYPE_CHECKING

from latchfree_cli import exits

if TYPE_CHECKING:
    from latchfree_lincheck import History


def read_file(file: Path, format_: str | None, model: str | None) -> "list[History]":
    """Return the histories of a file."""
    from latchfree_lincheck import read_history

    try:
        return read_history(file, format=format_, model=model)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except OSError as error:
        raise exits.Stop(exits.USAGE, f"cannot read {file}: {error.strerror}; name a file that may be read") from None


def model_of(file: Path, history: "History", model: str | None) -> str:
    """Return the model's name: as given, else as the file implies."""
    from latchfree_model import MODELS, get_model

    name = model or history.model_hint
    if name is None:
        choices = "|".join(MODELS)
        raise exits.Stop(exits.USAGE, f"{file}: say what to check against: --model {choices}")
    try:
        get_model(name)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    return name
