"""The table of engines: names, what each accepts, and steps that no clock changes."""

import pytest
from lincheck_random import KINDS, model_of, random_history

from latchfree_lincheck import check
from latchfree_lincheck.checking import verdict
from latchfree_lincheck.engine.decide import PLANS
from latchfree_lincheck.engine.engines import ENGINES
from latchfree_lincheck.engine.wgl import plain
from latchfree_model import define


def test_the_names_are_those_that_users_are_offered():
    assert tuple(ENGINES) == verdict.ENGINE_NAMES
    assert all(engine.name == name for name, engine in ENGINES.items())
    assert set(PLANS) < set(ENGINES)


def test_only_engines_without_encoding_accept_a_model_of_ones_own():
    own = define("own", 0, {"read": lambda state: (state, state)})
    assert [name for name, engine in ENGINES.items() if engine.accepts(own)] == ["auto", "python", "smt"]
    assert all(engine.accepts(model_of(kind)) for engine in ENGINES.values() for kind in KINDS)


@pytest.mark.parametrize("kind", ["map", "cas-register"])
def test_looking_at_the_clock_is_no_step(kind, monkeypatch):
    histories = [random_history(kind, seed, 20) for seed in range(20)]

    def steps():
        return [check(each, model_of(kind), engine="python").steps for each in histories]

    monkeypatch.setattr(plain, "_SLICE_SECONDS", 1e6)
    seldom = steps()
    monkeypatch.setattr(plain, "_SLICE_SECONDS", -1.0)
    assert steps() == seldom
