"""Models of the user's own: ``--model module:Name``, and the files that the module is in."""

from latchfree_cli import exits


def own_models(py_files: str | None, model: str | None) -> tuple[tuple[str, str], ...]:
    """Make the user's modules importable and load the user's model; return the files, each with a digest.

    A file or a model that is not there ends the command, and so does a step that cannot be compiled.
    """
    if py_files is None and (model is None or ":" not in model):
        return ()
    from latchfree_model import CompiledModel
    from latchfree_model.models.loading import load_model
    from latchfree_model.models.own_files import use_files

    try:
        used = use_files(filter(None, (py_files or "").split(",")))
        if model is not None and ":" in model:
            loaded = load_model(model)
            if isinstance(loaded, CompiledModel):
                from latchfree_lincheck.engine.own_step import compile_step

                compile_step(loaded)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    return used
