"""The fast lane for JSON Lines and EDN says what the ordinary path says, or leaves a file to that path."""

import os
import random
import re
from pathlib import Path

import pytest
from lane_ways import by_ordinary_path, command, compared, needs_library, plain
from random_records import EDN_MODELS, MODELS, damaged_records, event_text, record_text
from usual_records import BAD_EDN, BAD_JSONL, EDN, JSONL, UNUSUAL, UNUSUAL_EDN

from latchfree_cli import exits
from latchfree_cli.histories import lane, lane_logs
from latchfree_lincheck.engine.encoding.forms import FORMS
from latchfree_lincheck.engine.logs import events, functions, tokens
from latchfree_lincheck.formats.meanings import MEANINGS, choose
from latchfree_model import get_model


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run in an empty folder, with short paths."""
    monkeypatch.chdir(tmp_path)


_KV = "{:process 0, :type :%s, :f :get, :key 1, :value %s}\n".replace("1", '"x"')
BAD_KV = _KV % ("invoke", "nil") + _KV % ("ok", '"a"')


def judged(text, name, model=""):
    """Judge a text both ways; return the exit code, or None if the lane left it."""
    folder = Path(str(len(list(Path().iterdir()))))
    folder.mkdir()
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return compared([file], folder, model=model)


def test_usual_files():
    assert judged(JSONL, "a.jsonl", "register") == exits.OK
    assert judged(BAD_JSONL, "a.jsonl", "register") == exits.VIOLATION
    assert judged(JSONL.replace(', "invoke"', ', "model": "cas-register", "invoke"'), "a.jsonl") == exits.OK
    assert (
        judged(BAD_JSONL.replace('"h"', "\"an 'h'\"").replace("{", '{"object": "x", '), "a.jsonl", "register") is None
    )
    assert judged(BAD_JSONL.replace('"h"', '"a.h"').replace("{", '{"object": "x", '), "a.jsonl", "register") == 1
    assert judged(JSONL.replace('"history": "h", ', ""), "h.jsonl", "register") == exits.OK
    assert judged(EDN, "a.edn") == judged(EDN, "a.edn", "cas-register") == exits.OK
    assert judged(BAD_EDN, "a.edn") == exits.VIOLATION
    assert judged(re.sub(", :", " :", EDN), "a.edn") == exits.OK


USUAL_VALUES = [
    '[:isolated {"n1" #{"n2" "n3"}, "n2" #{"n1"}}]', '{"n1" :killed, "n2" nil}', "[[1 2] [3 [4]]]", "{1 2, 2 1}", "[]",
]  # fmt: skip
UNUSUAL_VALUES = [
    '#{"n1" "n1"}', '{"n1" 1 "n1" 2}', '{"n1" 1 "n2"}', '#{"n1" #{"n2"}}', "[1 2", "[1}", "[1x]", "#{1 true}",
    "[[:r 1]]", "[[:append 1]]", "{:f :txn}", "[:key 1]", '["a:b"]', "[[[[[[[1]]]]]]]", "#{nil nil}",
    "[a]", "[1 .5]", "#inst [1]",
]  # fmt: skip


@pytest.mark.parametrize("value", [*USUAL_VALUES, *UNUSUAL_VALUES])
def test_values_of_the_nemesis(value):
    for text in (
        EDN.replace(":start, :value nil", f":start, :value {value}"),
        EDN.replace("2}", f"2, :error {value}}}"),
    ):
        assert (judged(text, "a.edn") == exits.OK) == (value in USUAL_VALUES)


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_unusual_takes_the_ordinary_path(what):
    assert judged(UNUSUAL[what], "a.jsonl", "register") is None


@pytest.mark.parametrize("what", UNUSUAL_EDN)
def test_what_is_unusual_in_edn_takes_the_ordinary_path(what):
    assert judged(UNUSUAL_EDN[what], "a.edn") is None


def test_a_line_that_is_no_operation_of_the_model():
    for model in MODELS[2:]:
        assert judged(JSONL, "a.jsonl", model) is None
    for model in ("map", "set", "register", "queue"):
        assert judged(EDN, "a.edn", model) is None


def test_files_of_several_kinds(monkeypatch):
    monkeypatch.setattr(lane, "ALONE", 0.0)
    rng = random.Random(6)
    files = [Path(f"{number}.x") for number in range(30)]
    for number, file in enumerate(files):
        make = record_text if number % 2 else event_text
        while True:
            text = make(rng, "cas-register", 7, odd=0)
            text = text if isinstance(text, str) else text[0] * text[1]
            file.write_text(text)
            if compared([file], Path(f"{number}")) is not None:
                break
    Path("a.log").write_text(BAD_KV)
    for order in (files, files[::-1], [*files[:3], Path("a.log"), *files[3:]]):
        assert compared(order, Path(f"{order[0].stem} {len(order)}")) == exits.VIOLATION


def test_long_files():
    lines = [line for line in JSONL.splitlines() if "null}" not in line]
    text = "".join(
        line.replace('"a"', str(turn)).replace(f'"invoke": {2 * at}', f'"invoke": {2 * at + 4 * turn}')
        .replace(f'"return": {2 * at + 1}', f'"return": {2 * at + 4 * turn + 1}') + "\n"
        for turn in range(3_000) for at, line in enumerate(lines)
    )  # fmt: skip
    assert judged(text, "a.jsonl", "register") == exits.OK
    assert judged(text, "a.jsonl", "cas-register") == exits.OK
    assert judged(text.replace('"result": 2999', '"result": 2998'), "a.jsonl", "register") == exits.VIOLATION
    assert judged(text.replace('"result": 2999', '"result": 2998'), "a.jsonl", "cas-register") == exits.VIOLATION
    assert judged("".join(text.splitlines(keepends=True)[::-1]), "a.jsonl", "register") == exits.OK


def test_the_numbers_of_both_sides_agree():
    names = ("BITS", "NO_TOKEN", "NULL", "TRUE", "FALSE")
    assert all(getattr(lane_logs, name) == getattr(tokens, name) for name in names)
    assert lane_logs.MODELS == functions.MODELS == MODELS


def test_functions_are_those_of_the_models():
    kinds = {"value": functions.VALUE, "truth": functions.TRUTH, "": functions.UNSEEN_RESULT}
    kinds["done"] = functions.DONE_RESULT
    for number, model in enumerate(MODELS):
        mine = {each.name: (each.code, each.kind) for each in functions.FUNCTIONS if each.model == number}
        whole = {"snapshot", "size", "clear"}
        forms = {name: (code, kinds[kind]) for name, (code, kind) in FORMS[model].items() if name not in whole}
        assert mine == forms
        takes = {each.name: each.takes for each in functions.FUNCTIONS if each.model == number}
        assert takes.items() <= get_model(model).operations.items()


def test_the_model_that_edn_means():
    names = ["read", "write", "cas", "acquire", "release", "enqueue", "dequeue", "push", "pop"]
    for chosen in range(1, 1 << len(names)):
        mine = [name for place, name in enumerate(names) if chosen >> place & 1]
        fits = all(each in MEANINGS.get(choose(mine, []), {}) for each in mine)
        meant = events.model_meant(chosen, -1)
        assert (MODELS[meant] if meant >= 0 else None) == (choose(mine, []) if fits else None)
        for number, model in enumerate(MODELS):
            served = model in EDN_MODELS and all(each in MEANINGS[model] for each in mine)
            assert events.model_meant(chosen, number) == (number if served else -1)


def test_truth_as_a_number():
    """Columns of numbers write 1 and 0 for true and false; the verdict shows what the file says."""
    line = '{"process": 0, "f": "cas", "arguments": [%d, 1], "result": %s, "invoke": %d, "return": %d}\n'
    first, second = line % (0, "1", 2, 3), line % (2, "0", 4, 5)
    write = line.replace('"cas", "arguments": [%d, 1]', '"write", "arguments": [%d]') % (0, "null", 0, 1)
    for said in ("0", "false"):
        text = write + first + second.replace('"result": 0', f'"result": {said}')
        assert judged(text, "a.jsonl", "cas-register") == exits.OK
    assert judged(write + first + second.replace('"result": 0', '"result": 1'), "a.jsonl", "cas-register") == 1
    assert judged(write + first.replace('"result": 1', '"result": 0'), "a.jsonl", "cas-register") == exits.VIOLATION
    for odd in ("2", "-1", "01", "10", "null", '"1"'):
        assert judged(write + first.replace('"result": 1', f'"result": {odd}'), "a.jsonl", "cas-register") is None


@needs_library
@pytest.mark.parametrize(
    ("name", "text", "model"),
    [("a.jsonl", JSONL, "register"), ("a.jsonl", BAD_JSONL, "register"), ("a.edn", EDN, ""), ("a.edn", BAD_EDN, "")],
)
def test_a_usual_file_loads_nothing_heavy(name, text, model):
    Path(name).write_text(text)
    done = command("check", name, *(["--model", model] if model else []))
    assert (done.returncode, done.stderr) == (int(text in (BAD_JSONL, BAD_EDN)), "[]\n")
    assert (done.returncode, plain(done.stdout)) == by_ordinary_path([Path(name)], Path("out"), model=model)


def judge(rng, kind, number, damage):
    """Judge a random history both ways; return the exit code, or None if the lane left it."""
    model = rng.choice(MODELS if kind == "jsonl" else EDN_MODELS)
    calls = rng.choice([3, 7, 7, 20])
    text, hint = record_text(rng, model, calls) if kind == "jsonl" else (event_text(rng, model, calls), True)
    asked = rng.random() < (0.05 if hint else 0.9)
    chosen = (model if rng.random() < 0.9 else rng.choice(MODELS)) if asked else ""
    folder = Path(str(number))
    folder.mkdir()
    file = folder / f"a.{kind}"
    file.write_bytes((damaged_records(rng, text) if damage else text).encode("utf-8", "surrogatepass"))
    return compared([file], folder, model=chosen)


def campaign(rng, kind, rounds):
    """Judge random histories and damaged ones; return how many had each answer."""
    answers = {exits.OK: 0, exits.VIOLATION: 0, None: 0}
    for number in range(rounds):
        answers[judge(rng, kind, number, number % 2)] += 1
    return answers


@pytest.mark.parametrize("kind", ["jsonl", "edn"])
def test_random_and_damaged_histories(kind):
    answers = campaign(random.Random(15), kind, 400)
    assert min(answers.values()) >= 8, answers


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["jsonl", "edn"])
@pytest.mark.parametrize("seed", range(4))
def test_many_random_and_damaged_histories(kind, seed):
    answers = campaign(random.Random(seed), kind, int(os.environ.get("LATCHFREE_RECORDS", "5000")))
    assert min(answers.values()) >= 50, answers
