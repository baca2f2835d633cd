"""One Spark session for all tests of the pipeline: starting one takes seconds."""

import sys
from pathlib import Path

import pytest

from latchfree_spark import spark_session

# Workers inherit the path that the session is started with.
for folder in (Path(__file__).parent / "helpers", Path(__file__).parents[1] / "lincheck" / "helpers"):
    sys.path.insert(0, str(folder))


@pytest.fixture(scope="session")
def spark():
    """Two cores of this machine; few partitions, since the tables are small."""
    with spark_session("tests", master="local[2,4]", conf={"spark.sql.shuffle.partitions": "4"}) as session:
        yield session
