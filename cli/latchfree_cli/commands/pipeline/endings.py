"""How a check on Spark ends that does not end well: one line, an exit code, and what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager

from latchfree_cli import exits


@contextmanager
def ending(next_step: str) -> Iterator[None]:
    """End the command where its block fails: 70 for an error of Spark's, 2 for wrong input; other errors pass.

    Parameters
    ----------
    next_step : str
        What to do after Spark has failed, as ``start again to go on from out.partial``.
    """
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("pyspark", "py4j"):
            what = str(error).strip().partition("\n")[0]
            raise exits.Stop(exits.TOOL, f"Spark failed: {what}; {next_step}") from None
        if isinstance(error, ValueError):
            raise exits.Stop(exits.USAGE, str(error)) from None
        raise
