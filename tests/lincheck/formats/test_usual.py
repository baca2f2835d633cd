"""Usual logs are read by one pattern: what is read so is what the reader of single lines reads."""

import random
from pathlib import Path

import pytest
from lincheck_damage import flipped, line_damage, texts

from latchfree_lincheck import HistoryFormatError, read_history
from latchfree_lincheck.formats import jepsen_log, porcupine_kv
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.formats.usual import read_register, read_store, read_usual

LOG = texts()["jepsen-log"].split("\n", 1)[1]
STORE = texts()["porcupine-kv"]
READERS = {
    "log": (lambda text: read_register(text, True), jepsen_log, "jepsen-log", {}),
    "dropped": (lambda text: read_register(text, False), jepsen_log, "jepsen-log", {"failed": "dropped"}),
    "store": (read_store, porcupine_kv, "porcupine-kv", {}),
}


def slow(kind, text):
    """Return what the reader of single lines makes of a text, None if it is malformed."""
    _, module, _, options = READERS[kind]
    try:
        (history,) = module.read(Source(Path("h.log"), text.encode()), **options)
    except HistoryFormatError:
        return None
    return history


def random_log(rng, kind):
    """Return a log of calls that end in every way, some of them at the wrong time or with another value."""
    lines, running, names = [], {}, list(range(4))
    for _ in range(rng.randrange(1, 40)):
        at = rng.randrange(4)
        if at not in running:
            f = rng.choice(["get", "put", "append"] if kind == "store" else ["read", "write", "cas"])
            value = rng.choice(['"a"', '"b c"', '""']) if kind == "store" else str(rng.randrange(3))
            if f == "cas":
                value = f"[{value} {rng.randrange(3)}]"
            if f in ("read", "get") and rng.random() < 0.99:
                value = "nil"
            running[at] = f, value
            end = "invoke"
        else:
            end = rng.choice(["ok", "ok", "ok", "fail", "info"])
            f, value = running.pop(at)
            if f in ("read", "get") and end == "ok":
                value = rng.choice(['"a"', '""']) if kind == "store" else rng.choice(["nil", "0", "2"])
            elif end == "info" and kind != "store":
                value = ":timed-out"
        if rng.random() < 0.01:
            value = rng.choice(["7", "nil", "[1 2]", '"x"', ":timed-out", "[0 [1]]", "01"])
        if rng.random() < 0.005:
            running.pop(at, None)
        if kind == "store":
            lines.append(f'{{:process {names[at]}, :type :{end}, :f :{f}, :key "{rng.randrange(1)}", :value {value}}}')
        else:
            lines.append(f"INFO  jepsen.util - {names[at]}\t:{end}\t:{f}\t{value}")
        if end == "info" and rng.random() < 0.95:
            names[at] += 4
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(("kind", "text"), [("log", LOG), ("dropped", LOG), ("store", STORE), ("log", "")])
def test_a_usual_log_gives_the_same_history(kind, text, tmp_path):
    read, _, format, options = READERS[kind]
    expected = slow(kind, text)
    assert read(text) == list(expected.operations)
    (tmp_path / "h.log").write_text(text)
    (history,) = read_history(tmp_path / "h.log", format, **options)
    assert history == expected
    assert [each.tolist() for each in history.times()] == [each.tolist() for each in expected.times()]


@pytest.mark.parametrize(("kind", "model"), [("log", "register"), ("log", "map"), ("store", "map")])
def test_another_model_is_left_to_the_reader_of_lines(kind, model):
    text = LOG if kind == "log" else STORE
    assert read_usual(Source(Path("h"), text.encode()), READERS[kind][2], model, None) is None


@pytest.mark.parametrize("kind", READERS)
def test_what_is_read_at_once_is_what_is_read_line_by_line(kind):
    rng = random.Random(8)
    counts = {"same": 0, "left": 0, "malformed": 0}
    for _ in range(400):
        text = random_log(rng, kind)
        if rng.random() < 0.3:
            damaged = flipped(rng, text.encode()) if rng.random() < 0.5 else text.encode()
            text = line_damage(rng, damaged)(damaged).decode("utf-8", "replace")
        read, expected = READERS[kind][0](text), slow(kind, text)
        if read is None:
            counts["malformed" if expected is None else "left"] += 1
        else:
            assert expected is not None, text
            assert read == list(expected.operations), text
            counts["same"] += 1
    assert counts["same"] > 100
    assert counts["malformed"] > 20


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\u2028\n", 1),
        lambda text: text + "\n",
        lambda text: "INFO  jepsen.core - starting\n" + text,
        lambda text: text.replace(":process 0", ":process +0", 1).replace("- 0", "- +0", 1),
    ],
)
@pytest.mark.parametrize("kind", READERS)
def test_an_unusual_line_is_left_to_the_reader_of_lines(kind, change):
    assert READERS[kind][0](change(LOG if kind != "store" else STORE)) is None
