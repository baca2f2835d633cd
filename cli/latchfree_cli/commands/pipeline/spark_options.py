"""The options that all commands on Spark share: where it runs, and with which settings."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        help="Where Spark runs: local[4], spark://..., sc://...; default: as Spark is configured, else here.",
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="NAME=VALUE", help="A setting of Spark; may be given again."),
]
Ui = Annotated[bool, typer.Option("--ui", help="Spark's own pages while the job runs.")]


def opener(
    settings: Settings, app: str, master: str | None, conf: Sequence[str] | None, ui: bool
) -> Callable[[], "AbstractContextManager[SparkSession]"]:
    """Return a function that opens the session that the options ask for.

    A setting of the wrong form, and a PySpark that is too old, end the command at once, before anything is read.
    """
    from latchfree_spark import versions

    versions.require(app)
    given = {"spark.ui.enabled": "true"} if ui else {}
    for each in conf or ():
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise exits.Stop(exits.USAGE, f"--conf {each!r}: expected NAME=VALUE, as in spark.executor.memory=4g")
        given[name.strip()] = value

    @contextmanager
    def opened() -> "Iterator[SparkSession]":
        from latchfree_spark import needs, session, workers

        try:
            with session.spark_session(app, master=master, conf=given) as spark:
                if ui and hasattr(spark, "sparkContext"):
                    settings.note(f"Spark's pages: {spark.sparkContext.uiWebUrl}")
                workers.require_same_python(spark)
                yield spark
        except session.SessionRefused as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
        except needs.WorkersDiffer as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
        except Exception as error:
            # Of a host that joined later, for instance.
            said = workers.explained(str(error)) if type(error).__module__.startswith(("pyspark", "py4j")) else None
            if said is None:
                raise
            raise exits.Stop(exits.TOOL, said) from None

    return opened
