"""One Spark session for all tests of the pipeline: starting one takes seconds."""

import pytest

from latchfree_spark import spark_session

CONF = {
    # Few partitions, since the tables are small; little optimisation, since the jobs are short.
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData"
    " -Xverify:none",
}


@pytest.fixture(scope="session")
def spark():
    """Two cores of this machine."""
    with spark_session("tests", master="local[2,4]", conf=CONF) as session:
        yield session
