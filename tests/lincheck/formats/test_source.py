"""A file is opened once, and read to its end or refused: plain, packed, or through a pipe."""

import gzip
import io
import json
import os
import pickle
import threading
from contextlib import suppress

import pyarrow as pa
import pytest

from latchfree_lincheck import History, HistoryFormatError, Operation, read_history, write_history
from latchfree_lincheck.formats import read_maps
from latchfree_lincheck.formats.source import read_source


def operation(turn):
    return Operation(turn % 3, "write", (turn,), None, 2 * turn, 2 * turn + 1)


LONG = History("h", [operation(turn) for turn in range(2000)], "register")
"""More than a pipe holds, and more than is looked at to tell the format."""


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Return the same operations in each format, by format."""
    folder = tmp_path_factory.mktemp("texts")
    log, kv = [], []
    for turn in range(2000):
        for kind in ("invoke", "ok"):
            log.append(f"INFO  jepsen.util - {turn % 3}\t:{kind}\t:write\t{turn}\n")
            kv.append(f'{{:process {turn % 3}, :type :{kind}, :f :put, :key "0", :value "{turn}"}}\n')
    edn = [line.replace("put", "write").replace(', :key "0"', "") for line in kv]
    found = {"jepsen-log": "".join(log), "jepsen-edn": "".join(edn), "porcupine-kv": "".join(kv)}
    data = {name: text.encode() for name, text in found.items()}
    for name in ("jsonl", "parquet"):
        write_history(folder / "h", [LONG], name)
        data[name] = (folder / "h").read_bytes()
    return data


FORMATS = ("jsonl", "parquet", "jepsen-log", "jepsen-edn", "porcupine-kv")
PACKED = {"": bytes, ".gz": gzip.compress, ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True)}


def through_pipe(data, read):
    """Return what `read` makes of a path that can be opened and read once."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"):

        def feed():
            with suppress(BrokenPipeError), os.fdopen(writing, "wb") as file:
                file.write(data)

        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            return read(f"/dev/fd/{reading}")
        finally:
            os.set_blocking(reading, False)
            while feeder.is_alive():
                _drain(reading)
                feeder.join(0.01)


def _drain(reading):
    with suppress(BlockingIOError):
        while os.read(reading, 1 << 20):
            pass


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("format", FORMATS)
def test_all_of_a_file_is_read_through_every_door(format, packed, texts, tmp_path, monkeypatch):
    data = PACKED[packed](texts[format])
    path = tmp_path / f"h.txt{packed}"
    path.write_bytes(data)
    (whole,) = read_history(path)
    assert len(whole) == 2000
    assert whole.name == "h"
    (piped,) = through_pipe(data, read_history)
    assert piped.operations == whole.operations
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    (standard,) = read_history("-")
    assert standard.operations == whole.operations
    assert standard.name == ("h" if format in ("jsonl", "parquet") else "stdin")


@pytest.mark.parametrize("packed", [".gz", ".zst"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_packed_file_that_is_cut_or_changed_is_refused(format, packed, texts, tmp_path):
    """But for the last cut, each leaves whole lines behind."""
    data = PACKED[packed](texts[format])
    path = tmp_path / f"h{packed}"
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    damaged = [data[:cut] for cut in (len(data) - 1, len(data) - 4, len(data) // 2, 4)]
    for bad in [*damaged, data + b"more", *([bytes(changed)] if packed == ".gz" else [])]:
        path.write_bytes(bad)
        with pytest.raises(HistoryFormatError, match=r":1: expected a whole (gzip|zstd) file, got "):
            read_history(path)


def test_packed_files_may_have_several_members(tmp_path):
    path = tmp_path / "h.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n') + gzip.compress(b'{"b": 2}\n'))
    assert list(read_maps(path)) == [(1, {"a": 1}), (2, {"b": 2})]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"BZh91AY", "bzip2 -dc"),
        (b"\xfd7zXZ\x00\x00", "xz -dc"),
        (b"PK\x03\x04", "unzip -p"),
        (b'[{"history": "h"}]', "expected JSON Lines, an object on each line, got a JSON array; fix: jq -c '.[]'"),
        (b'\n[\n  {"history": "h"}\n]', ":2: expected JSON Lines"),
        (b"\xff\xfe{\x00", ":1: expected "),
        (
            b'{"process": 0, "f": "f", "arguments": [], "invoke": 1, "return": 2}\n\xff',
            ":2: expected UTF-8 text, got 'utf-8' codec can't decode byte 0xff",
        ),
    ],
)
def test_what_is_something_else_is_named_with_the_way_out(data, words, tmp_path):
    path = tmp_path / "h"
    path.write_bytes(data)
    with pytest.raises(HistoryFormatError) as error:
        read_history(path)
    assert words in str(error.value)


def test_a_word_in_a_value_does_not_make_a_format(tmp_path):
    path = tmp_path / "h"
    write_history(path, [History("h", [Operation(0, "write", ("INFO  jepsen.util - :key ",), None, 1, 2)])])
    assert len(read_history(path)[0]) == 1
    path.write_text('{:process 0, :type :invoke, :f :read, :value nil, :error "INFO jepsen.util - timed out"}')
    assert len(read_history(path)[0]) == 1


def test_nothing_is_no_history_through_every_door(tmp_path, monkeypatch):
    path = tmp_path / "h"
    for data in (b"", b"\n\n"):
        path.write_bytes(data)
        assert read_history(path) == []
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read_history("-") == []


def test_a_history_without_a_name_has_that_of_its_file(tmp_path):
    line = {"process": 0, "f": "write", "arguments": [1], "result": None, "invoke": 1, "return": 2}
    for name in ("run 1.jsonl", "run 1.jsonl.gz"):
        text = (json.dumps(line) + "\n").encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        (history,) = read_history(tmp_path / name)
        assert history.name == "run 1"


def test_errors_are_carried_from_process_to_process(tmp_path):
    path = tmp_path / "h.gz"
    path.write_bytes(b"\x1f\x8b")
    with pytest.raises(HistoryFormatError) as error:
        read_source(path)
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.line) == (str(error.value), 1)
