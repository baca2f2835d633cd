"""One Spark session for all tests of the pipeline: starting one takes seconds."""

import pytest

from latchfree_spark import spark_session


@pytest.fixture(scope="session")
def spark():
    """Two cores of this machine; few partitions, since the tables are small."""
    with spark_session("tests", master="local[2,4]", conf={"spark.sql.shuffle.partitions": "4"}) as session:
        yield session
