"""Say what is wrong with topics: for one text, and for record batches on a worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree.topics import Dialect, MaskIndex


def defect(text: object, dialect: Dialect) -> str | None:
    """Return what is wrong with a topic."""
    from latchfree.topics import InvalidTopic

    if text is None:
        return "there is no topic, or bytes that are not UTF-8"
    try:
        dialect.topic(str(text))
    except InvalidTopic as error:
        return str(error)
    return None


def defects(batches: Iterable[Any], dialect: str) -> Iterator[Any]:
    """Yield, of each file, the first row that is no message, with what is wrong as one more column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from latchfree.topics import InvalidTopic, MaskIndex, get_dialect

    rules = get_dialect(dialect)
    compiled: MaskIndex = MaskIndex.build([], [], dialect)
    done: set[str] = set()
    for batch in batches:
        rest = batch.filter(pc.invert(pc.is_in(batch.column("file"), pa.array(sorted(done), pa.string()))))
        topics = rest.column("topic")
        if not topics.null_count:
            try:
                compiled.match_many(topics)
                continue
            except InvalidTopic:
                pass
        rows, problems = [], []
        for row, (file, text) in enumerate(zip(rest.column("file").to_pylist(), topics.to_pylist(), strict=True)):
            problem = None if file in done else defect(text, rules)
            if problem is not None:
                done.add(file)
                rows.append(row)
                problems.append(problem)
        yield rest.take(pa.array(rows, pa.int64())).append_column("problem", pa.array(problems, pa.string()))
