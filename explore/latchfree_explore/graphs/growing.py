"""The graphs that come next: other writes for a read, other places for a write, and reads that a write revisits.

Example: thread 0 has loaded x and read what x held to begin with; then thread 1 stores 1 to x. One graph more comes of
that: all that was added after the load is taken out, but for what the store depends on, and the load reads 1.

The scheme is TruSt's, as in `latchfree_explore.weak.exploring`: a read is revisited only where the read, and all that
is taken out, was added *maximally*. So each graph that the memory model allows comes once.

What is added to begin with is always allowed: a read takes the newest write, a write is the newest.
"""

from __future__ import annotations

from collections.abc import Iterator

from latchfree_explore.graphs.coherence import Known
from latchfree_explore.graphs.steps import WRITES, State, Step, rows_of
from latchfree_explore.judging.judge import Judge
from latchfree_explore.weak.axioms import Model
from latchfree_explore.weak.graph import INITIAL


class Growing:
    """Grows graphs under a memory model.

    Parameters
    ----------
    model : {"sc", "tso", "sra", "rc11"}
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._judge = Judge()

    def allows(self, state: State) -> bool:
        """Return whether the model allows a graph."""
        return bool(self._judge.allowing(rows_of(state).rows, (self.model,)))

    def read(self, state: State, known: Known, step: Step, values: dict[int, int]) -> Iterator[State]:
        """Yield the graphs in which a new read takes another write than the newest.

        Parameters
        ----------
        state : State
            Without the read.
        known : Known
            What its threads know.
        step : Step
            The read.
        values : dict of int to int
            What words held to begin with.
        """
        order = state.order(step.word)
        if len(order) == 1:
            return
        for write in known.readable(state, step.thread, step.word):
            if write != order[-1]:
                yield from self._whole(state.added(step, write), len(state.steps), values)

    def write(self, state: State, known: Known, step: Step, values: dict[int, int]) -> Iterator[State]:
        """Yield the graphs in which a new write comes at another place than the last, or is read by a read before it.

        Parameters
        ----------
        state : State
            Without the write.
        known : Known
            What its threads know.
        step : Step
            The write, or the half of an update whose read is the last step of its thread.
        values : dict of int to int
            What words held to begin with.
        """
        if step.part == "write":
            for place in known.places(state, step.thread, step.word):
                if place < len(state.order(step.word)):
                    found = state.placed(step, place)
                    if self.allows(found):
                        yield found
        yield from self._revisits(state, step, values)

    def _whole(self, state: State, read: int, values: dict[int, int]) -> Iterator[State]:
        """Yield the graphs in which a read that may belong to an update has its half."""
        if not self.allows(state):
            return
        step, source = state.steps[read], state.source[read]
        old = values[step.word] if source == INITIAL else state.steps[source].value
        assert old is not None
        value = step.written(old)
        if value is None:
            yield state
            return
        half = step._replace(part="half", value=value)
        order = state.order(step.word)
        place = order.index(source) + 1
        if place == len(order) or state.steps[order[place]].part != "half":
            found = state.placed(half, place)
            if self.allows(found):
                yield found
        yield from self._revisits(state, half, values)

    def _revisits(self, state: State, write: Step, values: dict[int, int]) -> Iterator[State]:
        """Yield the graphs in which a read that is there takes a new write."""
        reads = [number for number in state.source if state.steps[number].word == write.word]
        if not reads:
            return
        before = prefix(state, write.thread)
        for read in sorted(reads):
            if read in before:
                continue
            gone = [each for each in range(read + 1, len(state.steps)) if each not in before]
            if not all(maximal(state, each, before) for each in (read, *gone)):
                continue
            kept = state.without(frozenset(gone), read)
            reader = read - sum(each < read for each in gone)
            if write.part == "half":
                last = kept.last(write.thread)
                found = [kept.order(write.word).index(kept.source[last]) + 1]
            else:
                found = list(Known(kept).places(kept, write.thread, write.word))
            for place in found:
                yield from self._whole(kept.placed(write, place, reader), reader, values)


def prefix(state: State, thread: int) -> set[int]:
    """Return the steps that come, in po and rf, before the next step of a thread."""
    previous = state.previous()
    waiting, found = [state.last(thread)], {INITIAL}
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += (previous[number], state.source.get(number, INITIAL))
    return found


def maximal(state: State, number: int, before: set[int]) -> bool:
    """Return whether a step was added maximally, with regard to what was there then or is not taken out."""
    step = state.steps[number]
    if step.part in ("fence", "other"):
        return True

    def there(other: int) -> bool:
        return other <= number or other in before

    if step.part in WRITES and any(write == number and there(read) for read, write in state.source.items()):
        return False
    newest = state.source.get(number, number)
    order = state.order(step.word)
    return there(newest) and not any(there(write) for write in order[order.index(newest) + 1 :])
