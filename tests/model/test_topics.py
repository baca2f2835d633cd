"""Topic matching against cases that real brokers agree on and against brute force; the model of a topic index."""

import itertools
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from latchfree_model import UNKNOWN, Call, TopicIndexModel, get_model
from latchfree_model.models.dialects import DIALECTS, Dialect

CASES = [json.loads(line) for line in (Path(__file__).parent / "data" / "topics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dialect']} {case['pattern']!r} {case['topic']!r}")
def test_the_cases_of_the_brokers(case: dict[str, str]) -> None:
    dialect = DIALECTS[case["dialect"]]
    expected, pattern, topic = case["expect"], case["pattern"], case["topic"]
    if expected == "invalid-pattern":
        with pytest.raises(ValueError, match=r"is no pattern of"):
            dialect.check_pattern(pattern)
        return
    dialect.check_pattern(pattern)
    if expected == "invalid-topic":
        with pytest.raises(ValueError, match=r"is no topic of"):
            dialect.check_topic(topic)
        return
    dialect.check_topic(topic)
    assert dialect.matches(pattern, topic) == (expected == "match")


def plainly(dialect: Dialect, pattern: tuple[str, ...], topic: tuple[str, ...]) -> bool:
    """Match word by word, trying every number of words for every wildcard."""

    @cache
    def rest(i: int, j: int) -> bool:
        if i == len(pattern):
            return j == len(topic)
        if pattern[i] == dialect.many:
            return any(rest(i + 1, k) for k in range(j + dialect.least, len(topic) + 1))
        return j < len(topic) and pattern[i] in (dialect.one, topic[j]) and rest(i + 1, j + 1)

    return rest(0, 0)


@pytest.mark.parametrize("name", DIALECTS)
def test_agrees_with_brute_force(name: str) -> None:
    dialect = DIALECTS[name]
    compared = {True: 0, False: 0}
    for length, size in itertools.product(range(1, 5), range(1, 4)):
        for pattern in itertools.product((dialect.one, dialect.many, "a", "b"), repeat=length):
            text = dialect.separator.join(pattern)
            try:
                dialect.check_pattern(text)
            except ValueError:
                continue
            for topic in itertools.product("ab", repeat=size):
                expected = plainly(dialect, pattern, topic)
                assert dialect.matches(text, dialect.separator.join(topic)) == expected, (pattern, topic)
                compared[expected] += 1
    assert min(compared.values()) > 100


def test_many_wildcards_do_not_blow_up() -> None:
    pattern = ".".join(["#", "a"] * 40 + ["b"])
    assert not DIALECTS["amqp"].matches(pattern, ".".join(["a"] * 100))


@pytest.mark.parametrize(
    ("name", "pattern", "message"),
    [
        ("amqp", "x" * 256, "it has 256 bytes, and 255 are allowed"),
        ("nats", "a b", "white space"),
        ("nats", "a..b", "empty token"),
        ("nats", "", "empty token"),
        ("mqtt", "", "it is empty"),
        ("mqtt", "$share/g", "expected \\$share/group/filter"),
        ("mqtt", "$share//a", "expected \\$share/group/filter"),
        ("mqtt", "$share/a+/b", "expected \\$share/group/filter"),
        ("mqtt", "a/#/b", "'#' must be the whole last level"),
        ("mqtt", "é" * 32768, "it has 65,536 bytes"),
        ("mqtt", 7, "a pattern of mqtt is a string, not 7"),
    ],
)
def test_invalid_patterns_say_why(name: str, pattern: Any, message: str) -> None:
    model = TopicIndexModel(name)
    with pytest.raises(ValueError, match=rf"subscribe\(.*{message}"):
        model.step(model.init(), Call("subscribe", (pattern, "me"), None))


@pytest.mark.parametrize("name", DIALECTS)
def test_the_index_agrees_with_a_list_of_subscriptions(name: str) -> None:
    model, dialect = TopicIndexModel(name), DIALECTS[name]
    rng = random.Random(name)
    words = ["a", "b", dialect.one]
    state, held = model.init(), []
    for _ in range(600):
        pattern = dialect.separator.join(rng.choices(words, k=rng.randint(1, 2))) + rng.choice(
            ["", dialect.separator + dialect.many]
        )
        pair, topic = (pattern, rng.randrange(3)), dialect.separator.join(rng.choices("ab", k=rng.randint(1, 3)))
        f = rng.choice(list(model.operations))
        result: object = UNKNOWN
        if f == "subscribe" and pair not in held:
            held.append(pair)
        elif f == "unsubscribe":
            result = pair in held
            held = [each for each in held if each != pair]
        elif f == "match":
            result = list({who for p, who in held if dialect.matches(p, topic)})
        elif f == "snapshot":
            result = tuple(held)
        arguments: tuple[object, ...] = {"match": (topic,), "snapshot": ()}.get(f, pair)
        wrong = Call(f, arguments, [("no", "one")])
        assert model.step(state, wrong)[0] == (f == "subscribe")
        legal, state = model.step(state, Call(f, arguments, result))
        assert legal, (f, arguments, result)
        assert sorted(state) == sorted(held)


def test_describe_names_the_subscriptions_that_matched() -> None:
    model = get_model("topic-index")
    _, state = model.step(model.init(), Call("subscribe", ("a.*", "x"), None))
    _, state = model.step(state, Call("subscribe", ("b.#", "y"), None))
    assert model.describe(state, Call("match", ("a.b",), ["x", "y"])) == (
        "match('a.b') returned ['x', 'y'], but of the subscriptions ('a.*', 'x') matched"
    )
    assert "'x' was subscribed to 'a.*'" in model.describe(state, Call("unsubscribe", ("a.*", "x"), False))


def test_partition_and_names() -> None:
    model = get_model("topic-index")
    assert model.partition(Call("subscribe", ("a", 1), None)) == ("a", 1)
    assert model.partition(Call("unsubscribe", ("a", 1), True)) == ("a", 1)
    assert {model.partition(Call("match", ("a",), [])), model.partition(Call("snapshot", (), []))} == {None}
    assert get_model("topic-index:amqp") is model
    assert get_model("topic-index:mqtt").name == "topic-index:mqtt"
    with pytest.raises(ValueError, match="no topic dialect is called 'kafka'; there are amqp, nats, mqtt"):
        get_model("topic-index:kafka")
