"""Where ``latchfree pipeline match`` and ``sketch`` read and write: paths, or URIs, which only a session can reach."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from latchfree_cli import exits
from latchfree_cli.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from latchfree_spark.match import Messages


def output(settings: Settings) -> Path | str:
    """Return where to write; an output at a path that exists ends the command."""
    from latchfree_spark.hadoop import is_uri
    from latchfree_spark.match import refuse_existing

    if is_uri(settings.address):
        return settings.address.rstrip("/")
    refuse_existing(settings.out)
    return settings.out


def found_here(address: str, topic: str, *, schema: str | None, keep_going: bool) -> "Messages | None":
    """Return the messages at a path, None at a URI: `found_there` needs a session for these."""
    from latchfree_spark.hadoop import is_uri
    from latchfree_spark.match import find

    return None if is_uri(address) else find(address, topic, schema=schema, keep_going=keep_going)


def found_there(spark: "SparkSession", address: str, topic: str, *, schema: str | None, keep_going: bool) -> "Messages":
    """Return the messages at a URI."""
    from latchfree_spark.match import find_at

    return find_at(spark, address, topic, schema=schema, keep_going=keep_going)


@contextmanager
def fetched(spark: "SparkSession", address: str) -> Iterator[str]:
    """Yield the path of a copy of the file at a URI; errors name the URI."""
    from latchfree_spark.hadoop import Store, split

    store = Store.of(spark, address)
    if store is None or not store.exists(address):
        why = "with Spark Connect name a path" if store is None else "No such file or directory"
        raise exits.Stop(exits.USAGE, f"{address}: {why}")
    with tempfile.TemporaryDirectory(prefix="latchfree-") as folder:
        path = str(Path(folder, split(address)[1]))
        store.fetch(address, path)
        try:
            yield path
        except exits.Stop as error:
            raise exits.Stop(error.code, str(error).replace(path, address)) from None
