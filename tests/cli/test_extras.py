"""The extra that a missing module is said to come with does bring the module."""

import re
import tomllib
from pathlib import Path

from latchfree.extras import EXTRAS
from latchfree_cli.extras import DISTRIBUTIONS, fix_for

ROOT = Path(__file__).parents[2]
USERS = ("jit", "topics", "check", "verify", "spark", "explore")
"""The extras of users; the others are of developers."""


def brought() -> dict[str, set[str]]:
    """Return the distributions that each extra names itself."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = {extra: {re.split(r"[\[<>=]", each)[0] for each in extras[extra]} for extra in USERS}
    return {extra: found - {"latchfree"} for extra, found in names.items()}


def test_each_extra_brings_what_it_is_named_for() -> None:
    found = brought()
    for module, extra in EXTRAS.items():
        assert DISTRIBUTIONS.get(module, module) in found[extra]


def test_all_that_the_extras_bring_is_known() -> None:
    known = {DISTRIBUTIONS.get(module, module) for module in EXTRAS}
    assert set.union(*brought().values()) == known


def test_one_line() -> None:
    assert fix_for("z3.z3") == 'z3 is not installed; fix: pip install "latchfree[verify]"'
    assert fix_for("numpy") == 'numpy is not installed; fix: pip install "latchfree"'
