"""The topic trie under the explorer: scenarios of every kind of meeting hold, and what it cannot run is refused."""

import pytest

from latchfree_evidence.exploring import explore

TWO = "init: subscribe(1, 1); subscribe(1, 2)"

#: One subscription less while another comes: in the same C-node, above it, below it; both at once.
MEETINGS = [
    f"{TWO} | unsubscribe(1, 2) | subscribe(1, 3) | after: snapshot()",
    f"{TWO} | unsubscribe(1, 2) | subscribe(2, 3) | after: snapshot()",
    f"{TWO} | unsubscribe(1, 2) | unsubscribe(1, 1) | after: snapshot()",
    f"{TWO} | unsubscribe(1, 2) | match(1) | keys: together",
    "init: subscribe(1, 1) | subscribe(1, 2) | subscribe(3, 3) | after: match(1)",
    f"{TWO} | match_frozen(1) | unsubscribe(1, 2); subscribe(3, 3)",
    "init: subscribe(1, 1); subscribe(2, 2) | unsubscribe(1, 1) | snapshot() | subscribe(1, 3) | after: snapshot()",
]

TORN = (
    "init: subscribe(1, 1); subscribe(2, 2); subscribe(3, 3); subscribe(3, 5); subscribe(3, 6) | match(1) | "
    "subscribe(1, 4); unsubscribe(3, 5)"
)


@pytest.mark.parametrize("scenario", [*MEETINGS, TORN])
def test_every_schedule_of_a_few_preemptions_holds(scenario):
    result = explore("topic-trie", scenario=scenario, strategy="bounded", bound=2)
    assert (result.verdict, result.schedules > 20) == ("ok", True), result.reason


def test_a_matcher_that_is_always_disturbed_answers_from_a_snapshot():
    writer = "; ".join(f"subscribe(1, {k}); unsubscribe(1, {k})" for k in range(2, 8))
    scenario = f"{TWO.replace('2)', '0)')} | match(1) | {writer}"
    result = explore("topic-trie", scenario=scenario, strategy="random", schedules=3_000, seed=4)
    assert result.verdict == "ok", result.reason


@pytest.mark.slow
def test_a_campaign_of_random_scenarios_holds():
    result = explore("topic-trie", seed=20120225, schedules=40_000)
    assert result.verdict == "ok", result.reason


@pytest.mark.slow
@pytest.mark.parametrize("scenario", MEETINGS[:3])
def test_every_schedule_holds_and_nobody_waits(scenario):
    result = explore("topic-trie", scenario=scenario, progress=True, timeout=1200)
    assert result.verdict == "ok", result.reason


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("subscribe(1, 1) | subscribe(1, 1)", "subscribes a pair once"),
        ("subscribe(8, 1)", "from 0 to 7"),
        ("match(4)", "from 0 to 3"),
        ("match(1) | keys: pairs", "has no key layout"),
    ],
)
def test_what_it_cannot_run_is_refused(scenario, reason):
    with pytest.raises(ValueError, match=reason):
        explore("topic-trie", scenario=scenario)
