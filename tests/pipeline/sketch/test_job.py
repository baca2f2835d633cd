"""Sketches of messages: within their bounds, united over windows, and read by the package datasketches."""

import datetime
from collections import Counter
from pathlib import Path

import datasketches
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from latchfree_spark.errors import RowsLost
from latchfree_spark.match import BadMessages, NoMessages, OutputExists, find
from latchfree_spark.sketch import Columns, CountMin, job, sketch_messages, sketched

COUNT, WINDOWS = 40_000, 3
MIDNIGHT = datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory):
    """Messages of three hours with some heavy topics, and their sketches."""
    import random

    rng = random.Random(20120225)
    folder = tmp_path_factory.mktemp("sketch")
    topics = [f"t/{min(int(rng.paretovariate(0.6)), 30_000)}" for _ in range(COUNT)]
    columns = {
        "topic": topics,
        "at": [MIDNIGHT + datetime.timedelta(hours=WINDOWS) * (i / COUNT) for i in range(COUNT)],
        "payload": ["x" * int(rng.expovariate(0.01)) for _ in range(COUNT)],
        "subscribers": [[f"s{rng.randrange(9000)}" for _ in range(rng.randrange(5))] for _ in range(COUNT)],
    }
    pq.write_table(pa.table(columns), folder / "messages.parquet")
    looked_at = Columns(time="at", window="1 hour", size="payload", subscribers="subscribers")
    total = sketch_messages(spark, find(str(folder)), folder / "out", looked_at, heavy=5)
    windows = sorted(pq.read_table(folder / "out" / "windows").to_pylist(), key=lambda row: row["start"])
    return columns, total, windows, pq.read_table(folder / "out" / "total.parquet").to_pylist()[0]


def near(estimate, exact, error):
    assert abs(estimate - exact) <= error * exact, (estimate, exact)


def test_distinct_counts(made):
    columns, total, windows, _ = made
    assert (total.windows, total.messages) == (WINDOWS, COUNT)
    near(total.topics, len(set(columns["topic"])), 0.05)  # three standard errors
    near(total.subscribers, len({s for row in columns["subscribers"] for s in row}), 0.05)
    cut = [COUNT * k // WINDOWS for k in range(WINDOWS + 1)]
    for row, low, high in zip(
        windows, [0, *[c + 1 for c in cut[1:-1]]], [c + 1 for c in cut[1:-1]] + [COUNT], strict=True
    ):
        assert abs(row["messages"] - (high - low)) <= 1
        near(row["topics"], len(set(columns["topic"][low:high])), 0.05)
        near(row["subscribers"], len({s for each in columns["subscribers"][low:high] for s in each}), 0.05)


def test_heavy_topics(made):
    columns, total, _, _ = made
    exact = Counter(columns["topic"])
    assert [topic for topic, _ in total.heavy] == [topic for topic, _ in exact.most_common(5)]
    for topic, count in total.heavy:
        near(count, exact[topic], 0.01)


def test_how_often_any_topic_was_seen(made):
    columns, _, windows, row = made
    exact = Counter(columns["topic"])
    sketch = CountMin.of(row["topics_count_min"])
    assert sketch.total == COUNT == sum(CountMin.of(each["topics_count_min"]).total for each in windows)
    errors = [sketch.estimate(topic) - count for topic, count in exact.items()]
    assert min(errors) >= 0
    assert sum(error > 0.001 * COUNT for error in errors) <= 0.01 * len(errors)


@pytest.mark.parametrize("name", ["sizes", "fan_outs"])
def test_quantiles(made, name):
    columns, total, _, _ = made
    values = sorted(map(len, columns["payload" if name == "sizes" else "subscribers"]))
    for rank, value in zip((0.5, 0.9, 0.99), getattr(total, name), strict=True):
        below, upto = (sum(v < value for v in values) / COUNT, sum(v <= value for v in values) / COUNT)
        # A quantile sketch tosses coins: k = 200 is within 0.0133 in 99 of 100 cases, so beyond 0.03 in none of 10**8.
        assert below - 0.03 <= rank <= upto + 0.03


def test_datasketches_reads_and_continues_them(made):
    columns, total, windows, row = made
    union = datasketches.hll_union(12)
    for each in windows:
        union.update(datasketches.hll_sketch.deserialize(each["topics_hll"]))
    near(union.get_result().get_estimate(), total.topics, 0.001)
    mine = datasketches.hll_sketch(12)
    for topic in columns["topic"]:
        mine.update(topic)
    union.update(mine)
    near(union.get_result().get_estimate(), total.topics, 0.001)  # the same topics hash alike
    for i in range(20_000):
        mine.update(f"new/{i}")
    union.update(mine)
    near(union.get_result().get_estimate(), len(set(columns["topic"])) + 20_000, 0.05)
    sizes = datasketches.kll_items_sketch.deserialize(row["sizes_kll"], datasketches.PyLongsSerDe())
    assert sizes.n == COUNT
    assert tuple(sizes.get_quantile(rank) for rank in (0.5, 0.9, 0.99)) == total.sizes
    more = datasketches.kll_items_sketch(200)
    for _ in range(3 * COUNT):
        more.update(10**6)
    more.merge(sizes)
    assert abs(more.get_rank(10**6 - 1) - 0.25) <= 0.03


def test_topics_of_which_none_stands_out(spark, tmp_path):
    (tmp_path / "t.txt").write_text("".join(f"t/{i}\n" for i in range(40_000)))
    total = sketch_messages(spark, find(str(tmp_path / "t.txt")), tmp_path / "out")
    assert total.heavy == ()
    (tmp_path / "t.txt").write_text("".join(f"t/{i}\n" for i in range(39_960)) + "hot\n" * 40)
    total = sketch_messages(spark, find(str(tmp_path / "t.txt")), tmp_path / "out2")
    assert [topic for topic, _ in total.heavy] == ["hot"]


def test_without_time_size_and_subscribers(spark, tmp_path):
    (tmp_path / "t.txt").write_text("a\nb\na\n")
    total = sketch_messages(spark, find(str(tmp_path / "t.txt")), tmp_path / "out")
    assert (total.windows, total.messages, total.topics, total.heavy) == (1, 3, 2, (("a", 2), ("b", 1)))
    assert (total.subscribers, total.sizes, total.fan_outs) == (None, None, None)


def test_what_is_refused(spark, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"topic": "a", "at": 1}\n')
    messages = find(str(tmp_path / "t.jsonl"))
    with pytest.raises(BadMessages, match="no column when for --time-column, only at, topic"):
        sketch_messages(spark, messages, tmp_path / "out", Columns(time="when"))
    with pytest.raises(BadMessages, match="the column at must be a timestamp, not bigint"):
        sketch_messages(spark, messages, tmp_path / "out", Columns(time="at"))
    (tmp_path / "t.jsonl").write_text('{"topic": null, "x": 1}\n')
    with pytest.raises(NoMessages, match="no messages with a topic"):
        sketch_messages(spark, find(str(tmp_path / "t.jsonl"), schema="topic string"), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputExists):
        sketch_messages(spark, messages, tmp_path / "out")


def test_rows_without_a_time_are_counted(spark):
    frame = spark.sql("SELECT * FROM VALUES ('a', timestamp'2026-01-01 00:10'), ('b', NULL), ('c', NULL) AS (name, at)")
    rows = sketched(frame, "name", Columns(time="at", window="1 hour"), 2).collect()
    assert [(row.start is None, row.messages) for row in rows] == [(True, 2), (False, 1)]
    with pytest.raises(BadMessages, match="expected a column topic, got name, at"):
        sketched(frame)


def test_windows_that_are_not_there_are_missed(spark, tmp_path, monkeypatch):
    real = job.sums

    def lose(spark, folder, *others):
        for file in Path(folder).glob("*.parquet"):
            file.unlink()
        return real(spark, folder, *others)

    monkeypatch.setattr(job, "sums", lose)
    (tmp_path / "t.txt").write_text("a\nb\na\n")
    with pytest.raises(RowsLost, match="1 windows counted, 0 there; 3 messages counted, 0 there"):
        sketch_messages(spark, find(str(tmp_path / "t.txt")), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]
