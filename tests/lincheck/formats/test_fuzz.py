"""Any bytes are a history or a HistoryFormatError, in every format."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree_lincheck import History, HistoryFormatError, Operation, read_history, write_history
from latchfree_lincheck.formats import FORMATS, _module, detect_format

LOG = "INFO  jepsen.util - 0\t:invoke\t:write\t3\nINFO  jepsen.util - 0\t:ok\t:write\t3\n"
EDN = "{:process 0, :type :invoke, :f :cas, :value [1 2], :index 0}\n{:process 0, :type :ok, :f :cas, :value [1 2]}\n"
KV = "".join(f'{{:process 0, :type {kind}, :f :put, :key "0", :value "x"}}\n' for kind in (":invoke", ":ok"))
RECORD = {"history": "h", "process": 0, "f": "put", "arguments": ["k", 1], "result": None, "invoke": 1, "return": 2}
TEXTS = {"jsonl": f"{json.dumps(RECORD)}\n" * 2, "jepsen-log": LOG, "jepsen-edn": EDN, "porcupine-kv": KV}

PIECES = [
    *["{", "}", "[", "]", '"history"', ":", ",", '"h"', "1", "-1e999", "null", "true", "\n", '"return"', "\\u0000"],
    *["(", "#{", ":process", ":type", ":invoke", ":ok", ":fail", ":info", ":f", ":read", ":cas", ":value", ":index"],
    *["nil", "1N", "2.5M", "1e999", "9" * 5000, '"a"', "\\newline", "#_", "#tag", ";", " ", '"', "\t", "[1 2]"],
    *["INFO  jepsen.util - ", "0"],
]
ANY_PIECE = st.sampled_from(PIECES) | st.text(max_size=3)
PIECEMEAL = st.lists(ANY_PIECE, max_size=40).map(lambda pieces: " ".join(pieces).encode("utf-8", "surrogatepass"))


@st.composite
def damaged(draw, text):
    """Return a file with some bytes changed, left out or doubled."""
    data = bytearray(text if isinstance(text, bytes) else text.encode())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(0, 12))
        data[at : at + length] = draw(st.binary(max_size=4) | st.just(bytes(data[at : at + 2 * length])))
    return bytes(data)


def read_all(path, data, formats):
    """Read bytes as each format and as whatever they look like; nothing else may be raised."""
    path.write_bytes(data)
    for format in [None, *formats]:
        error, histories = None, []
        try:
            histories = read_history(path, format)
        except HistoryFormatError as malformed:
            error = malformed
        assert all(isinstance(history, History) for history in histories)
        assert error is None or (str(error).startswith(f"{path}:") and error.line >= 1)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "some"


TEXT_FORMATS = [format for format in FORMATS if format != "parquet"]


@settings(max_examples=300)
@given(data=st.binary(max_size=200))
def test_any_bytes(path, data):
    read_all(path, data, FORMATS)


@settings(max_examples=400)
@given(data=PIECEMEAL)
def test_pieces_of_the_formats(path, data):
    read_all(path, data, TEXT_FORMATS)


@pytest.mark.parametrize("format", TEXTS)
@settings(max_examples=300)
@given(data=st.data())
def test_damaged_files(path, data, format):
    read_all(path, data.draw(damaged(TEXTS[format])), TEXT_FORMATS)


def table(path):
    operations = [Operation(0, "put", ("k", turn), None, 2 * turn, 2 * turn + 1) for turn in range(5)]
    write_history(path, [History("h", operations)], "parquet")
    return path.read_bytes()


@settings(max_examples=200)
@given(data=st.data())
def test_damaged_tables(path, data):
    read_all(path, data.draw(damaged(table(path))), ["parquet"])


@pytest.mark.slow
@settings(max_examples=20_000)
@given(data=st.binary(max_size=400) | PIECEMEAL | st.one_of([damaged(text) for text in TEXTS.values()]))
def test_many(path, data):
    read_all(path, data, TEXT_FORMATS)


def test_the_formats_are_told_apart(path):
    for format, text in TEXTS.items():
        path.write_text(text)
        assert detect_format(path) == format
    table(path)
    assert detect_format(path) == "parquet"


def test_a_reader_that_lets_an_error_through_is_caught(path, monkeypatch):
    def careless(source, model=None):
        return [History(str(int(source.text)), [])]

    monkeypatch.setattr(_module("jsonl"), "read", careless)
    with pytest.raises(ValueError, match="invalid literal"):
        read_all(path, TEXTS["jsonl"].encode(), TEXT_FORMATS)
