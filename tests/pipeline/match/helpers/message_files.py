"""Random subscriptions and messages in MQTT's dialect, what brute force finds, and files of them."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq

from latchfree.topics import MaskIndex, NaiveMatcher

WORDS = ["a", "b", "c", "d", ""]


def random_patterns(rng, count):
    """Patterns of up to four words, a third of them wildcards."""
    made = []
    for _ in range(count):
        words = [rng.choice([*WORDS[:4], "+", "+"]) for _ in range(rng.randint(1, 4))]
        made.append("/".join([*words[:-1], "#"] if rng.random() < 0.2 else words))
    return made


def random_topics(rng, count):
    """Topics of up to four words, some of them empty, some hidden from wildcards."""
    made = ["/".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4))) or "a" for _ in range(count)]
    return ["$" + topic if rng.random() < 0.05 else topic for topic in made]


def brute(patterns, subscribers, topics):
    """The subscribers of each topic, by comparing it with every pattern."""
    matcher = NaiveMatcher("mqtt")
    for pattern, subscriber in zip(patterns, subscribers, strict=True):
        matcher.subscribe(pattern, subscriber)
    return [sorted(matcher.match(topic)) for topic in topics]


def index_of(patterns, subscribers):
    """The index that is sent to workers."""
    return MaskIndex.build(patterns, subscribers, "mqtt")


def write(folder, suffix, topics, files=1, first=0):
    """Write messages with numbers in turn to some files of a folder."""
    folder.mkdir(exist_ok=True)
    for k in range(files):
        ids = list(range(first + k, first + len(topics), files))
        texts = [topics[i - first] for i in ids]
        path = folder / f"part{first + k:05d}{suffix}"
        part = path.with_name("_" + path.name)  # a stream must not see half a file
        if suffix == ".parquet":
            pq.write_table(pa.table({"id": pa.array(ids, pa.int64()), "topic": pa.array(texts, pa.string())}), part)
        elif suffix == ".jsonl":
            part.write_text("".join(json.dumps({"id": i, "topic": t}) + "\n" for i, t in zip(ids, texts, strict=True)))
        elif suffix == ".csv":
            with part.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerows([("id", "topic"), *zip(ids, texts, strict=True)])
        else:
            part.write_text("".join(text + "\n" for text in texts))
        part.replace(path)
    return folder
