"""What is pinned is what compiled code answers, not the translation."""

import json

import pytest

from latchfree_evidence.systematic.trials.pinned import FILE, digest, key_of
from latchfree_evidence.systematic.trials.table import SCRIPTS


@pytest.mark.parametrize(("script", "seeds"), SCRIPTS, ids=lambda each: getattr(each, "__name__", str(each)))
def test_compiled_code_answers_what_is_pinned(script, seeds):
    kept = json.loads(FILE.read_text())
    for seed in range(seeds):
        assert digest(script(seed)) == kept[key_of(script, seed)], (script.__name__, seed)


def test_nothing_else_is_pinned():
    assert set(json.loads(FILE.read_text())) == {key_of(s, seed) for s, seeds in SCRIPTS for seed in range(seeds)}
