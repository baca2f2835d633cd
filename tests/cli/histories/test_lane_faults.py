"""Faults in the fast lane's kernels, which run as Python here, are caught by random and damaged histories."""

import random
import sys
from pathlib import Path

import lane_ways
import numpy as np
import pytest
from lane_ways import compared
from random_records import EDN_MODELS, MODELS, damaged_records, event_text, record_text
from usual_records import UNUSUAL, UNUSUAL_EDN

from latchfree_lincheck.engine.compiled_models import states
from latchfree_lincheck.engine.frontier.kernels import configurations
from latchfree_lincheck.engine.frontier.kernels.configurations import FrontierArrays
from latchfree_lincheck.engine.logs import edn, events, jsonl, judging, records, rows, times, tokens

ROUNDS = 250
WRAPPING = {
    states.mix: lambda a, b: np.uint64(hash((int(a), int(b))) & 0xFFFF),
    configurations.lowest_bit: lambda bits: (int(bits) & -int(bits)).bit_length() - 1,
}
"""Kernels whose numbers wrap around."""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run in an empty folder, with short paths."""
    monkeypatch.chdir(tmp_path)


class Plain:
    """The lane's functions, which run as Python."""

    def __init__(self, faults):
        places = [
            (module, name, each)
            for path, module in list(sys.modules.items())
            if path.startswith("latchfree_lincheck.engine") or path == "latchfree.sorting"
            for name, each in vars(module).items()
            if hasattr(each, "py_func")
        ]
        self.compiled = places
        self.python = [
            (module, name, faults.get(each, WRAPPING.get(each, each.py_func))) for module, name, each in places
        ]

    def __call__(self, module, name):
        """Return a function as `lane.loaded` does; the modules are as they were after each call."""

        def judge(text, told, given, *memory):
            *arrays, model = memory
            self.put(self.python)
            try:
                with np.errstate(over="ignore"):
                    function = getattr(module, name)
                    arrays = map(np.asarray, arrays)
                    text = np.frombuffer(text, np.uint8)
                    return function(text, np.asarray(told), FrontierArrays(*map(np.asarray, given)), *arrays, model)
            finally:
                self.put(self.compiled)

        return judge

    @staticmethod
    def put(places):
        """Set attributes of modules."""
        for module, name, each in places:
            setattr(module, name, each)


def campaign(rng, monkeypatch, faults):
    """Judge histories both ways, by Python with faults and by the ordinary path; return how many answers there were."""
    plain = Plain(faults)
    others = dict.fromkeys(("register_log", "store_log"), lambda *_: -1)
    functions = {**others, "jsonl": plain(jsonl, "judge_jsonl"), "edn": plain(edn, "judge_edn")}
    monkeypatch.setattr(lane_ways, "functions", lambda: functions)
    for kind, texts, model in (("jsonl", UNUSUAL, "register"), ("edn", UNUSUAL_EDN, "")):
        for number, text in enumerate(texts.values()):
            file = Path(f"{kind} {number}", f"a.{kind}")
            file.parent.mkdir()
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
            assert compared([file], file.parent, model=model) is None
    answers = 0
    for number in range(ROUNDS):
        kind = ("jsonl", "edn")[number % 2]
        model = rng.choice(MODELS if kind == "jsonl" else EDN_MODELS)
        if kind == "jsonl":
            text, hint = record_text(rng, model, 5, odd=0.3)
        else:
            text, hint = event_text(rng, model, 5, odd=0.3), True
        file = Path(str(number), f"a.{kind}")
        file.parent.mkdir()
        text = damaged_records(rng, text) if rng.random() < 0.6 else text
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        answers += compared([file], file.parent, model="" if hint else model) is not None
    return answers


def test_without_a_fault(monkeypatch):
    assert campaign(random.Random(1), monkeypatch, {}) > ROUNDS // 5


_value_at, _text_token = records.value_at.py_func, tokens.text_token.py_func
_find, _end, _tell = rows.find_functions.py_func, events.end.py_func, judging.tell_running.py_func
_line_at = events.line_at.py_func


def _true_is_false(text, at):
    token, end = _value_at(text, at)
    return (tokens.FALSE if token == tokens.TRUE else token), end


def _any_function(text, calls, count, model):
    if not _find(text, calls, count, model):
        calls[:count, 2] = 0
    return True


def _one_object(text, calls, count, keyed, part):
    part[:] = 0
    return 1


FAULTS = {
    "values of equal lengths are equal": {tokens.same_token: lambda text, one, other: one & 0xFFFF == other & 0xFFFF},
    "processes may call twice": {times.one_at_a_time: lambda *_: True},
    "returns come before invocations": {times.order_events: lambda calls, count, found, _: _by_call(count, found)},
    "objects are one": {rows.number_parts: _one_object},
    "true is false": {records.value_at: _true_is_false},
    "any function will do": {rows.find_functions: _any_function},
    "names may differ": {
        records.name_at: lambda text, at, named, place: _text_token(text, at, True)[1]
    },
    "every end is fine": {events.end: lambda *given: _end(*given) or True},
    "keys are one": {rows.has_keys: lambda _: False},
    "indices may shrink": {events.line_at: lambda text, at, line: _without_index(text, at, line)},
    "nothing ran beside": {
        judging.tell_running: lambda calls, _, failing, told: _tell(calls, [], failing, told)
    },
}  # fmt: skip


def _by_call(count, found):
    found[: 2 * count] = np.arange(2 * count)
    return 2 * count


def _without_index(text, at, line):
    end = _line_at(text, at, line)
    line[events.INDEX] = -1
    return end


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught(fault, monkeypatch):
    with pytest.raises((AssertionError, IndexError)):
        campaign(random.Random(1), monkeypatch, FAULTS[fault])
