"""How a job on Spark ends that does not end well: one line, an exit code, and what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager

from latchfree_cli import exits


@contextmanager
def ending(
    next_step: str,
    wrong: tuple[type[Exception], ...] = (ValueError,),
    nothing: tuple[type[Exception], ...] = (),
) -> Iterator[None]:
    """End the command where its block fails; errors of other kinds pass.

    Parameters
    ----------
    next_step : str
        What to do after an error of Spark's (exit code 70), as ``start again to go on from out.partial``.
    wrong : tuple of type
        Errors that say what is wrong with the input (exit code 2).
    nothing : tuple of type
        Errors that say that there is no input (exit code 4).
    """
    try:
        yield
    except nothing as error:
        raise exits.Stop(exits.NOTHING, str(error)) from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("pyspark", "py4j"):
            from latchfree_spark.errors import in_a_line

            raise exits.Stop(exits.TOOL, f"Spark failed: {in_a_line(error)}; {next_step}") from None
        if isinstance(error, wrong):
            raise exits.Stop(exits.USAGE, str(error)) from None
        raise
