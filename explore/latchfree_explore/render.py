"""Draw a failing interleaving as a table: a column for each thread, a row for each access, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from latchfree_explore.failure import Failure
from latchfree_explore.sources import function_of, text_of
from latchfree_explore.steps import Step
from latchfree_model import UNKNOWN

_WIDTH: Final = 150


def table(failure: Failure, *, every_step: bool = False) -> Table:
    """Return the interleaving of a failure as a table; unless `every_step`, only the `interesting` steps."""
    threads = len(failure.scenario.threads)
    shown = Table("step", *(f"thread {t}" for t in range(threads)), show_lines=False, pad_edge=False)
    kept = set(range(len(failure.steps))) if every_step else interesting(failure)
    results = returns(failure)
    started: set[int] = set()
    hidden = 0
    for k, step in enumerate(failure.steps):
        lines = []
        if step.call not in started:
            started.add(step.call)
            lines.append(Text(f"{failure.scenario.operations[step.call]} {{", style="bold"))
        if k in kept:
            lines.append(_access(step))
        else:
            hidden += 1
        if k in results:
            lines.append(Text(f"}} -> {results[k]}", style="bold"))
        last = k + 1 == len(failure.steps) or failure.steps[k + 1].thread != step.thread
        if hidden and (lines or last) and (k in kept or last or k in results):
            place = lines.index(next(iter(lines))) if lines else 0
            lines.insert(place, Text(f"... {hidden} accesses", style="dim"))
            hidden = 0
        if lines:
            cells = [Text() for _ in range(threads)]
            cells[step.thread] = Text("\n").join(lines)
            shown.add_row(str(k), *cells, end_section=last)
    return shown


def _access(step: Step) -> Text:
    what = step.kind if step.succeeded else f"{step.kind} fails"
    if step.at is not None:
        changed = f"{_word(step.old)} -> {_word(step.new)}" if step.old != step.new else _word(step.old)
        what += f" [{step.at}] {changed}"
    if step.choice:
        what += f", {back(step)}"
    text = Text(what)
    if step.site:
        name = step.site.rpartition("/")[2]
        text.append(f"\n  {function_of(step.site)} {name}  {text_of(step.site)}", style="dim")
    return text


def back(step: Step) -> str:
    """Say how a step does not go by the newest value."""
    if step.choice < 0:  # the graph gives it, and not the machine's choice
        return "placed where its graph says" if step.kind == "store" else "old: what its graph says"
    newer = "one newer" if step.choice == 1 else f"{step.choice} newer"
    return f"placed before {newer}" if step.kind == "store" else f"old: there is {newer}"


def _word(value: int) -> str:
    return str(value) if abs(value) < 1 << 32 else hex(value & (1 << 64) - 1)


def returns(failure: Failure) -> dict[int, object]:
    """Return, for the last step of each operation that returned, its result."""
    last: dict[int, int] = {}
    for k, step in enumerate(failure.steps):
        last[step.call] = k
    found = {}
    for call, result in _results(failure):
        if call in last:
            found[last[call]] = result
    return found


def _results(failure: Failure) -> Iterator[tuple[int, object]]:
    """Yield the index in the scenario and the result of each operation that returned."""
    left = list(failure.history.operations)
    processes = [str(t) for t, thread in enumerate(failure.scenario.threads) for _ in thread]
    names = [*["init"] * len(failure.scenario.before), *processes, *["after"] * len(failure.scenario.after)]
    for k, (each, name) in enumerate(zip(failure.scenario.operations, names, strict=True)):
        if left and left[0].process == name and (left[0].f, left[0].arguments) == (each.f, each.arguments):
            operation = left.pop(0)
            if operation.result is not UNKNOWN:
                yield k, operation.result


def interesting(failure: Failure) -> set[int]:
    """Return the steps on words that several threads touch and one changes, and those beside a context switch."""
    users: dict[int, set[int]] = {}
    changed = set()
    for step in failure.steps:
        if step.at is not None:
            users.setdefault(step.at, set()).add(step.thread)
            if step.old != step.new:
                changed.add(step.at)
    kept = set()
    for k, step in enumerate(failure.steps):
        if step.at in changed and len(users[step.at]) > 1:
            kept.add(k)
        around = failure.steps[max(0, k - 1) : k + 2]
        if any(other.thread != step.thread for other in around):
            kept.add(k)
    return kept


def explained(failure: Failure, *, every_step: bool = False) -> str:
    """Return the failure in plain text: scenario, table, the operations before and after, and what is wrong."""
    console = Console(width=_WIDTH, force_terminal=False, no_color=True, highlight=False, emoji=False, markup=False)
    with console.capture() as capture:
        console.print(table(failure, every_step=every_step))
    return "\n".join([f"scenario: {failure.scenario}", capture.get().rstrip(), *around(failure), verdict(failure)])


def around(failure: Failure) -> list[str]:
    """Return the results of the operations before and after the threads, a line each."""
    lines = []
    for name in ("init", "after"):
        done = [op for op in failure.history.operations if op.process == name]
        if done:
            lines.append(f"{name}: " + "; ".join(f"{op.call} -> {op.result!r}" for op in done))
    return lines


def verdict(failure: Failure) -> str:
    """Say what is wrong, and how many context switches it takes."""
    return (
        f"{failure.kind}: {failure.message} "
        f"({len(failure.steps)} accesses, {failure.context_switches} context switches, "
        f"{failure.preemptions} of them preemptions)" + (f"; {where(failure)}" if failure.choices else "")
    )


def where(failure: Failure) -> str:
    """Say which machines can behave like that."""
    models = f"allowed by {', '.join(failure.models)}"
    if "sc" in failure.models:
        return f"{models}: on every machine"
    return f"{models}: " + ("on x86 too" if "tso" in failure.models else "not on x86; on ARM and weaker only")
