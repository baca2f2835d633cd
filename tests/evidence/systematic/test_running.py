"""A run over mutants: the same verdicts however many are judged at a time, and nothing left behind."""

import ast
import json
import os
import time

import pytest

from latchfree_evidence.systematic import running
from latchfree_evidence.systematic.limits import Hang
from latchfree_evidence.systematic.running import chosen, run

SOME = chosen("parking", sample=24, seed=1)


def size_of(replaced):
    (tree,) = replaced.values()
    return len(ast.dump(tree))


def quick(group, replaced):
    """Stand for trials: which mutants are caught, and how, is drawn from the code."""
    what = size_of(replaced) % 5
    time.sleep(0.002 * what)  # they end in another order than they begin
    if what == 1:
        raise AssertionError("wrong")
    if what == 2:
        raise Hang("10 steps")
    if what == 3:
        os._exit(3)


def slow(group, replaced):
    if size_of(replaced) % 2:
        raise KeyError("an error")


LAYERS = {"quick": quick, "deeper": slow}


def without_seconds(record):
    return {name: {**verdict, "seconds": 0} for name, verdict in record["mutants"].items()}


@pytest.mark.parametrize("jobs", [2, 5, 100])
def test_verdicts_are_those_of_one_at_a_time(jobs, tmp_path):
    argued = {SOME[0][1].name, SOME[1][1].name}
    alone = run(SOME, LAYERS, argued=argued)
    found = run(SOME, LAYERS, argued=argued, jobs=jobs, into=tmp_path / "record.json")
    assert without_seconds(found) == without_seconds(alone)
    assert without_seconds(json.loads((tmp_path / "record.json").read_text())) == without_seconds(alone)
    assert len(found["mutants"]) == len(SOME)
    ends = {(verdict["layer"], verdict["how"]) for verdict in found["mutants"].values()}
    assert {("quick", "wrong"), ("quick", "crash"), (None, "")} <= ends


def test_so_many_are_judged_at_a_time(monkeypatch):
    under_way, most, begin = set(), [], running.begin

    def begun(*given):
        found = begin(*given)
        under_way.add(found.child)
        most.append(len(under_way))
        return found

    def noted(mine, verdicts):
        usual(mine, verdicts)
        under_way.intersection_update(each.child for each in mine)

    usual = running._note
    monkeypatch.setattr(running, "begin", begun)
    monkeypatch.setattr(running, "_note", noted)
    run(SOME, LAYERS, jobs=3)
    assert max(most) == 3


def test_who_stops_leaves_no_process_behind(monkeypatch):
    children = []

    def stops(done, name):
        if done == 3:
            raise KeyboardInterrupt

    def waits(group, replaced):
        time.sleep(1000)

    usual = running.begin
    monkeypatch.setattr(running, "begin", lambda *given: children.append(usual(*given)) or children[-1])
    with pytest.raises(KeyboardInterrupt):
        run(SOME, {"waits": waits}, jobs=10, on_progress=stops)
    assert len(children) == 3
    for each in children:
        with pytest.raises(ProcessLookupError):
            os.kill(each.child, 0)


def test_what_has_a_verdict_is_not_judged_again(tmp_path):
    into = tmp_path / "record.json"
    run(SOME[:10], LAYERS, into=into)
    begun = []
    run(SOME, LAYERS, into=into, resume=True, jobs=2, on_progress=lambda done, name: begun.append(name))
    assert begun == [mutant.name for _, mutant in SOME[10:]]
    assert len(json.loads(into.read_text())["mutants"]) == len(SOME)
