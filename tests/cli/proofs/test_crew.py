"""Processes that work side by side: answers, errors, a process that dies, and nothing left behind."""

import os

import pytest
from crew_work import cleaned, nothing, perform

from latchfree_cli import exits
from latchfree_cli.proofs.crew import Crew


def gone(pid):
    """Return whether a process has ended; the crew has waited for it, so it is no zombie either."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_one_process_is_this_one():
    with Crew(perform, 1, nothing) as crew:
        assert crew.submit("pid").result() == os.getpid()
        with pytest.raises(ValueError, match="no such work"):
            crew.submit("wrong")


def test_work_is_done_in_other_processes_which_end():
    with Crew(perform, 2, nothing) as crew:
        found = [crew.submit(each) for each in ("pid", 21, "wrong", "pid", 4)]
        pids = {found[0].result(), found[3].result()}
        assert (found[1].result(), found[4].result()) == (42, 8)
        with pytest.raises(ValueError, match="no such work") as caught:
            found[2].result()
        assert "in perform" in caught.value.__notes__[0]
    assert os.getpid() not in pids
    assert all(gone(pid) for pid in pids)


def test_a_process_that_dies_is_told():
    with Crew(perform, 2, nothing) as crew, pytest.raises(exits.Stop) as caught:
        crew.submit("die").result()
    assert caught.value.code == exits.TOOL
    assert "ended with exit code -9 while it was to die" in str(caught.value)


def test_who_leaves_early_leaves_nobody_at_work():
    class Early(Exception):
        pass

    pids = []

    def leave():
        with Crew(perform, 2, nothing) as crew:
            pids.append(crew.submit("pid").result())
            waiting = [crew.submit("long") for _ in range(5)]
            raise Early
        return waiting

    with pytest.raises(Early):
        leave()
    assert all(gone(pid) for pid in pids)


def test_a_process_cleans_before_it_ends(monkeypatch, tmp_path):
    trace = tmp_path / "trace"
    monkeypatch.setenv("LATCHFREE_TEST_TRACE", str(trace))
    with Crew(perform, 2, cleaned) as crew:
        assert crew.submit(1).result() == 2
    assert trace.read_text() == "cleaned"
