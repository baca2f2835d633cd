"""What workers counted, as a person who watches a job reads it."""

from latchfree_spark.check.meters import Meters

ROWS = [{"operations": 20, "verdict": "ok"}, {"operations": 5, "verdict": "unknown"}]


def test_counts_of_tasks_come_to_the_driver(spark):
    meters = Meters.of(spark)
    assert meters.told(1.0) == ""

    def work(numbers):
        for number in numbers:
            meters.began(int(number == 1))
            meters.judged(ROWS)

    spark.sparkContext.parallelize(range(2), 2).foreachPartition(work)
    assert meters.told(2.0) == "4 histories, 50 operations, 2 a second, 2 unknown, tasks begun again: 1"
    assert (meters.histories.value, meters.operations.value, meters.unknown.value, meters.retries.value) == (
        4,
        50,
        2,
        1,
    )


def test_where_spark_has_no_accumulators_nothing_is_counted():
    meters = Meters()
    meters.began(1)
    meters.judged(ROWS)
    assert meters.told(1.0) == ""
