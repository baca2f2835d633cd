"""Lives of processes: random programs, programs that once failed, and a judge that can say no."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from latchfree_evidence.stress.lifecycle import program as programs
from latchfree_evidence.stress.lifecycle.campaign import run_lifecycle
from latchfree_evidence.stress.lifecycle.driver import Driver, Judged
from latchfree_evidence.stress.lifecycle.judge import complaints
from latchfree_evidence.stress.lifecycle.program import Program, Step, generate
from latchfree_evidence.stress.lifecycle.shrink import shrink, size
from latchfree_evidence.stress.lifecycle.watch import Watch

#: Programs that failed on code that has been corrected.
SAVED = sorted((Path(__file__).parents[1] / "lifecycle_programs").glob("*.json"))
SEED = 20120225


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with Driver() as driver:
        yield driver


def judged(driver: Driver, program: Program) -> Judged:
    ((_, result),) = driver.run([program])
    return result


def of_steps(*lives: list[Step], bystander: bool = False) -> Program:
    processes = [{"who": who, "steps": steps} for who, steps in enumerate(lives)]
    return {
        "format": programs.FORMAT, "seed": 0, "number": 0, "arena": "path", "bystander": bystander,
        "processes": processes, "signals": [],
    }  # fmt: skip


def use(what: str = "ints", how: str = "put") -> Step:
    return {"do": "use", "on": "a", "what": what, "how": how, "times": 3}


# programs ------------------------------------------------------------------------------------------------------------


def test_random_programs() -> None:
    result = run_lifecycle(8, seed=SEED)
    assert result.verdict == "ok", f"{result.reason}\n{result.judged and result.judged.stderr}\n{result.failure}"
    assert result.programs == 8
    assert result.kills > 0
    assert result.writes > 40


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, 26))
def test_many_random_programs(part: int) -> None:
    """Ten thousand programs, in parts of several minutes."""
    result = run_lifecycle(400, seed=SEED + part)
    print(f"seed {SEED + part}: {result.programs} programs, {result.writes} writes, {result.kills} kills")
    assert result.verdict == "ok", f"{result.reason}\n{result.judged and result.judged.stderr}\n{result.failure}"
    assert result.programs == 400


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_programs_that_once_failed(driver: Driver, path: Path) -> None:
    ran = list(driver.run([programs.load(path)] * 3))
    assert len(ran) == 3
    for _, result in ran:
        assert not result.findings, f"{result.findings}\n{result.stderr}"


def test_a_seed_repeats_the_programs(tmp_path: Path) -> None:
    assert generate(5, 3) == generate(5, 3)
    assert generate(5, 3) != generate(5, 4)
    programs.save(generate(5, 3), tmp_path / "program.json")
    assert programs.load(tmp_path / "program.json") == generate(5, 3)
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(ValueError, match="not a program"):
        programs.load(tmp_path / "other.json")


# the judge -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("lie", "loss", "ints: key 0 is 0x0, acknowledged"),
        ("hang", "hang", "process 0 takes more than 5 s for step 2 of its steps"),
        ("crash", "signal", "process 0 died of SIGSEGV"),
        ("abort", "signal", "process 0 died of SIGTERM"),
        ("scribble", "file", "an unrelated file has 4,096 bytes instead of 29"),
        ("complain", "complaint", "RuntimeError: raised in a finalizer"),
        ("break_seal", "exception", "a process ended with exit code 1"),
        pytest.param("spin", "hang", "process 0 takes more than 5 s for step 2", marks=pytest.mark.slow),
        ("damage", "damage", "ints"),
        ("keep_memory", "memory", "are kept for nobody"),
    ],
)
def test_a_fault_of_each_kind_is_found(driver: Driver, fault: str, kind: str, words: str) -> None:
    found = judged(driver, of_steps([use("texts"), {"do": f"fault:{fault}"}])).findings
    assert (kind, words) in [(each, words if words in text else text) for each, text in found], found


def test_a_descriptor_that_is_closed_is_found(driver: Driver) -> None:
    found = judged(driver, of_steps([{"do": "lose_descriptors"}, {"do": "fault:lose_number"}])).findings
    assert any("of a file that is not ours was closed" in text for _, text in found), found


def test_an_error_is_found(driver: Driver) -> None:
    found = judged(driver, of_steps([{"do": "no such step"}])).findings
    assert found[0] == ("exception", "process 0 ended with exit code 1")


def test_the_steps_that_belong_to_a_program_are_not_found(driver: Driver) -> None:
    alarm = {"do": "alarm", "on": "a", "after": 200, "times": 1, "then": "kill", "until": 0}
    kinds = [[use(), {"do": last}] for last in ("kill", "leave", "exit")]
    assert judged(driver, of_steps(*kinds, bystander=True)).findings == []
    assert judged(driver, of_steps([alarm, use(), use("texts", "bulk")])).findings == []


def test_time_in_which_a_process_is_busy_counts_little(monkeypatch: pytest.MonkeyPatch) -> None:
    second = 10**9
    clock, wanted = [0], [0]
    monkeypatch.setattr("time.monotonic_ns", lambda: clock[0])
    monkeypatch.setattr("latchfree_evidence.stress.lifecycle.watch.wanted", lambda pid: wanted[0])
    monkeypatch.setattr("latchfree_evidence.stress.lifecycle.watch.is_ready", lambda pid: False)

    def looks(busy: bool, seconds: int) -> bool:
        found = False
        for _ in range(4 * seconds):
            clock[0] += second // 4
            wanted[0] += busy * second // 4
            found = found or watch.look(1, 1)
        return found

    watch = Watch()
    assert not looks(busy=True, seconds=40)
    watch = Watch()
    clock[0] = 1
    assert looks(busy=False, seconds=8)


# making small --------------------------------------------------------------------------------------------------------


def test_a_failing_program_is_made_small() -> None:
    program = generate(SEED, 8)
    program["processes"][0]["steps"].insert(1, {"do": "culprit"})

    def fails(candidate: Program) -> bool:
        return any(step["do"] == "culprit" for process in candidate["processes"] for step in process["steps"])

    small = shrink(program, fails, float("inf"))
    assert size(small) == 1
    assert len(small["processes"]) == 1
    assert fails(program), "the program itself is as it was"


def test_a_campaign_names_the_program_that_fails(driver: Driver) -> None:
    rng = random.Random(SEED)
    wrong = of_steps([use(), {"do": "fault:crash"}, use()], [use()] * rng.randrange(1, 4))
    result = run_lifecycle(3, program=wrong, shrink_seconds=60)
    assert result.verdict == "violation"
    assert "SIGSEGV" in result.reason
    assert result.failure is not None
    assert [each["steps"] for each in result.failure["processes"]] == [[{"do": "fault:crash"}]]


def test_a_deadline_ends_a_campaign_without_a_pass() -> None:
    result = run_lifecycle(1_000_000, timeout=0.001)
    assert result.verdict == "unknown"
    assert "timeout" in result.reason


def test_the_interpreters_words_about_a_late_signal_are_no_complaint() -> None:
    told = 'Traceback (most recent call last):\n  File "x.py", line 5, in on_disposal\nOSError: '
    assert list(complaints(f"{told}Signal 14 ignored due to race condition\n", exits=False)) == []
    (finding,) = complaints(f"{told}[Errno 9] Bad file descriptor\n", exits=False)
    assert finding.kind == "complaint"


@pytest.mark.parametrize("hook", ["_releaseLock", "_afterFork"])
@pytest.mark.parametrize("source", ["", "    _lock.release()\n"])
def test_a_handler_that_exits_inside_loggings_own_hook_is_no_complaint(hook: str, source: str) -> None:
    exited = (
        'Exception ignored in: <function _acquireLock>\nTraceback (most recent call last):\n  File "x.py", line 9\n'
    )
    told = f'Traceback (most recent call last):\n  File "logging/__init__.py", line 242, in {hook}\n{source}'
    after = f"{exited}SystemExit: 0\nException ignored in: <function {hook}>\n{told}RuntimeError: "
    assert list(complaints(f"{after}cannot release un-acquired lock\n", exits=True)) == []
    assert [each.kind for each in complaints(f"{after}another\n", exits=True)] == ["complaint"]
    ours = told.replace(hook, "unlock")
    assert [each.kind for each in complaints(f"{ours}RuntimeError: cannot release un-acquired lock\n", exits=True)] == [
        "complaint"
    ]
