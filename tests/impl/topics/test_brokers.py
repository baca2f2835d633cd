"""Real brokers deliver what our matchers say, and refuse the patterns and topics that ours refuse."""

import random

import brokers
import pytest
from topic_texts import PLAIN, accepts

from latchfree.topics import AMQP, MQTT, NATS, MaskIndex

pytestmark = pytest.mark.brokers

SEEDS = range(4)
WORDS = ["a", "b", "c", "", "$s", "ä", "a b", "long-word-of-17b!"]


def some(rng, dialect, *, wild):
    """A text of a few words, often with wildcards, that may break any rule."""
    words = [*WORDS, *[dialect.one, dialect.many] * (3 if wild else 0)]
    text = dialect.separator.join(rng.choice(words) for _ in range(rng.randint(1, 4)))
    return text + dialect.many if wild and rng.random() < 0.1 else text


def valid(rng, dialect, count, *, wild):
    """Texts that the dialect takes."""
    check, found = dialect.pattern if wild else dialect.topic, []
    while len(found) < count:
        text = some(rng, dialect, wild=wild)
        if accepts(check, text):
            found.append(text)
    return found


def expected(patterns, topics, dialect):
    """Which of the patterns match each topic, on which all engines agree."""
    engines = [engine(dialect) for engine in PLAIN]
    for number, pattern in enumerate(patterns):
        for engine in engines:
            engine.subscribe(pattern, number)
    engines.append(MaskIndex.build(patterns, range(len(patterns)), dialect))
    (found,) = {tuple(engine.match(topic) for topic in topics) for engine in engines}
    return found


@pytest.fixture(scope="module")
def mosquitto(tmp_path_factory):
    with brokers.mosquitto(tmp_path_factory.mktemp("mosquitto")) as port:
        yield port


@pytest.fixture(scope="module")
def nats():
    with brokers.nats_server() as port:
        yield port


@pytest.fixture(scope="module")
def rabbitmq(tmp_path_factory):
    with brokers.rabbitmq(tmp_path_factory.mktemp("rabbitmq")) as port:
        yield port


@pytest.mark.parametrize("seed", SEEDS)
def test_mosquitto_delivers_what_we_match(mosquitto, seed):
    print(f"seed {seed}")
    rng = random.Random(seed)
    patterns, topics = valid(rng, MQTT, 40, wild=True), valid(rng, MQTT, 150, wild=False)
    clients = [brokers.MqttClient(mosquitto, f"{seed}-{number}") for number in range(len(patterns))]
    for client, pattern in zip(clients, patterns, strict=True):
        assert client.subscribe(pattern), pattern
        assert client.subscribe("the/end"), pattern
    publisher = brokers.MqttClient(mosquitto, f"{seed}-publisher")
    for number, topic in enumerate(topics):
        publisher.publish(topic, b"%d" % number)
    publisher.publish("the/end", b"end")
    found = [set(map(int, client.received(b"end"))) for client in clients]
    delivered = tuple(
        frozenset(client for client, numbers in enumerate(found) if topic in numbers) for topic in range(len(topics))
    )
    for client in (*clients, publisher):
        client.close()
    assert delivered == expected(patterns, topics, MQTT)
    assert sum(map(len, delivered)) > 100


def test_mosquitto_refuses_what_we_refuse(mosquitto):
    rng = random.Random(5)
    refused = 0
    for number in range(200):
        pattern = some(rng, MQTT, wild=True)
        topic = some(rng, MQTT, wild=rng.random() < 0.5)
        client = brokers.MqttClient(mosquitto, f"any-{number}")
        took = client.subscribe(pattern) if pattern else False
        client.close()
        assert took == accepts(MQTT.pattern, pattern), pattern
        client = brokers.MqttClient(mosquitto, f"any-{number}")
        client.publish(topic, b"x")
        kept = client.still_there()
        client.close()
        # MQTT 5 has an empty topic stand for one that was given a number before; here there is none.
        assert kept == accepts(MQTT.topic, topic), topic
        refused += (not took) + (not kept)
    assert refused > 50


@pytest.mark.parametrize("seed", SEEDS)
def test_nats_server_delivers_what_we_match(nats, seed):
    print(f"seed {seed}")
    rng = random.Random(seed)
    patterns, topics = valid(rng, NATS, 60, wild=True), valid(rng, NATS, 200, wild=False)
    client = brokers.NatsClient(nats)
    for number, pattern in enumerate(patterns):
        assert client.subscribe(pattern, number), pattern
    delivered = tuple(frozenset(client.publish(topic)) for topic in topics)
    client.close()
    assert delivered == expected(patterns, topics, NATS)
    assert sum(map(len, delivered)) > 100


def test_nats_server_refuses_what_we_refuse(nats):
    """What ends an argument of a command is no part of a subject; of other white space all is."""
    rng = random.Random(5)
    refused = 0
    for number in range(300):
        pattern = some(rng, NATS, wild=True).replace(" ", rng.choice(["x", "\f", "\v", "\u2003"]))
        client = brokers.NatsClient(nats)
        took = client.subscribe(pattern, number) if pattern else False
        client.close()
        assert took == accepts(NATS.pattern, pattern), pattern
        refused += not took
    assert refused > 50


@pytest.mark.parametrize("seed", SEEDS)
def test_rabbitmq_delivers_what_we_match(rabbitmq, seed):
    print(f"seed {seed}")
    rng = random.Random(seed)
    patterns, topics = valid(rng, AMQP, 60, wild=True), valid(rng, AMQP, 200, wild=False)
    client = brokers.AmqpClient(rabbitmq)
    for number, pattern in enumerate(patterns):
        client.bind(pattern, f"{seed}-{number}")
    for number, topic in enumerate(topics):
        client.publish(topic, b"%d" % number)
    found = [set(map(int, client.received(f"{seed}-{number}"))) for number in range(len(patterns))]
    client.close()
    delivered = tuple(
        frozenset(queue for queue, numbers in enumerate(found) if topic in numbers) for topic in range(len(topics))
    )
    assert delivered == expected(patterns, topics, AMQP)
    assert sum(map(len, delivered)) > 100
