"""A page that is made in a process of its own, and what that process lacks."""

from pathlib import Path

import pytest

from latchfree.errors import MissingExtra
from latchfree_teach.play.alone import made_alone


def test_what_the_process_lacks_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lacking.py").write_text("raise ModuleNotFoundError(\"No module named 'networkx.algorithms'\")\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtra, match=r'^networkx is not installed; fix: pip install "latchfree\[check\]"$'):
        made_alone("mutant W2", "lacking")


def test_another_failure_is_told_by_its_last_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing.py").write_text("raise KeyError(1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError, match=r"^mutant W2: KeyError: 1$"):
        made_alone("mutant W2", "failing")
