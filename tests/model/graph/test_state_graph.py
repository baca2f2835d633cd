"""Who takes a step, and what a path looks like as a trace."""

from graph_random import graph_of

from latchfree_model.graph import Path, Step


def state(**registers: str) -> str:
    return "L = [" + ", ".join(f"{process} |-> {mine}" for process, mine in registers.items()) + "]"


def owner(before: dict[str, str], after: dict[str, str], action: str) -> object:
    states = [state(**before), state(**after)]
    graph = graph_of(states if before != after else states[:1], [(0, int(before != after), action)])
    return graph.process(next(iter(graph.steps())))


def test_the_process_whose_pc_moves() -> None:
    before = {"u": '[pc |-> "A", r |-> 1]', "w": '[pc |-> "A", r |-> 1]'}
    after = {"u": '[pc |-> "A", r |-> 2]', "w": '[pc |-> "B", r |-> 1]'}
    assert owner(before, after, "A") == "w"


def test_the_process_whose_pc_names_the_action() -> None:
    before = {"u": '[pc |-> "B", r |-> 1]', "w": '[pc |-> "A", r |-> 1]'}
    after = {"u": '[pc |-> "B", r |-> 2]', "w": '[pc |-> "A", r |-> 2]'}
    assert owner(before, after, "A") == "w"
    assert owner(before, before, "A") == "w"


def test_the_process_whose_registers_change_most() -> None:
    before = {"u": '[pc |-> "A", r |-> 1, s |-> 1]', "w": '[pc |-> "A", r |-> 1, s |-> 1]'}
    after = {"u": '[pc |-> "A", r |-> 2, s |-> 2]', "w": '[pc |-> "A", r |-> 2, s |-> 1]'}
    assert owner(before, after, "A") == "u"


def test_no_process_if_the_states_do_not_tell() -> None:
    before = {"u": '[pc |-> "A", r |-> 1]', "w": '[pc |-> "A", r |-> 1]'}
    after = {"u": '[pc |-> "A", r |-> 2]', "w": '[pc |-> "A", r |-> 2]'}
    assert owner(before, after, "A") is None
    assert owner(before, before, "Elsewhere") is None
    graph = graph_of(["x = 0"], [(0, 0, "A")])
    assert graph.process(Step(0, 0, "A")) is None


def test_a_path_as_a_trace() -> None:
    graph = graph_of(["x = 0", "x = 1"], [(0, 1, "A"), (1, 0, "B")])
    trace = graph.trace(Path(0, (Step(0, 1, "A"),)), back_to=0)
    assert [(each.index, each.action, each.variables["x"]) for each in trace.states] == [
        (1, "Initial predicate", 0),
        (2, "A", 1),
    ]
    assert trace.back_to == 1


def test_a_part() -> None:
    graph = graph_of([f"x = {state}" for state in range(4)], [(0, 1, "A"), (1, 2, "B"), (2, 3, "C"), (3, 1, "D")])
    part = graph.part([1, 3])
    assert [part.state(state)["x"] for state in part.edges] == [1, 3]
    assert list(part.steps()) == [Step(1, 0, "D")]
    assert part.initial == ()
    assert len(part) == 2
