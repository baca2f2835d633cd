"""What is wrong with topics: of each file the first row, however many are bad."""

import pyarrow as pa

from latchfree.topics import get_dialect
from latchfree_spark.match.invalid import defect, defects


def batch(*rows):
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_pydict(
        {name: pa.array(list(column), kind) for name, column, kind in zip(
            ("file", "row", "topic"), columns, (pa.string(), pa.int64(), pa.string()), strict=True
        )}
    )  # fmt: skip


def test_a_topic():
    rules = get_dialect("mqtt")
    assert defect("a/b", rules) is None
    assert defect(None, rules) == "there is no topic, or bytes that are not UTF-8"
    assert "'a/+' is no topic of mqtt" in defect("a/+", rules)


def test_the_first_row_of_each_file():
    batches = [
        batch(("a", 0, "x"), ("a", 1, "x/y")),
        batch(("a", 2, "x"), ("a", 3, "#"), ("b", 0, None), ("b", 1, "+")),
        batch(*[("b", row, "#") for row in range(2, 1000)]),
        batch(("c", 0, ""), ("c", 1, "z"), ("a", 4, "+")),
    ]
    found = [row for each in defects(iter(batches), "mqtt") for row in each.to_pylist()]
    assert [(row["file"], row["row"]) for row in found] == [("a", 3), ("b", 0), ("c", 0)]
    assert found[1]["problem"] == "there is no topic, or bytes that are not UTF-8"
