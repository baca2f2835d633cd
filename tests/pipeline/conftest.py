"""One Spark session for all tests of the pipeline: starting one takes seconds."""

import pytest

from latchfree_spark import spark_session

CONF = {
    # Few partitions, since the tables are small; little optimisation, since the jobs are short.
    "spark.sql.shuffle.partitions": "2",
    "spark.python.daemon.module": "pipeline_daemon",
    "spark.sql.adaptive.enabled": "false",  # else each shuffle is a job of its own; see `adaptive`
    # Else what Spark has compiled for one test, Java or machine code, is thrown away before the next.
    "spark.sql.codegen.cache.maxEntries": "10000",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData"
    " -Xverify:none -XX:ReservedCodeCacheSize=256m",
}


@pytest.fixture(scope="session")
def spark():
    """Two cores of this machine; a task that fails is tried once more, since each try starts a worker."""
    with spark_session("tests", master="local[2,2]", conf=CONF) as session:
        yield session


@pytest.fixture
def adaptive(spark):
    """The session as users have it, who plan a query anew after each shuffle."""
    usual = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "4"}
    for name, value in usual.items():
        spark.conf.set(name, value)
    yield
    for name in usual:
        spark.conf.set(name, CONF[name])
