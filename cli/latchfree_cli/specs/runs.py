"""Run bounded models of the specification with TLC, and compare what TLC finds with the manifest."""

import io
import json
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from latchfree_cli import exits
from latchfree_cli.settings import Report, Settings, plain_console
from latchfree_cli.slots import Slots
from latchfree_model.tlc import (
    SpecModel,
    TlcResult,
    agree,
    class_archive,
    counts,
    find_jar,
    find_java,
    kill_running,
    load_manifest,
    record,
    run_model,
    spec_dir,
)

CORES = 2
"""How many models with one worker run at a time."""

URGENT = 1e5
"""States that a model which begins first counts for more than it has."""

MANY = 10
"""From as many models on it pays to make an archive of TLC's classes first."""

_ARCHIVE = threading.Lock()
"""Two layers that begin at the same time make one archive."""


@dataclass(frozen=True, slots=True)
class SpecOutcome:
    """One model, what TLC found, and how that differs from the manifest."""

    model: SpecModel
    result: TlcResult
    disagreements: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """Ok if TLC found what the manifest expects, even a violation; unknown if TLC did not finish."""
        if self.result.verdict == "unknown":
            return "unknown"
        return "violation" if self.disagreements else "ok"

    def line(self) -> str:
        """Return one line for the reader."""
        result = self.result
        parts = [
            f"{self.model.name:<32}",
            f"{result.verdict:<9}",
            f"expected {self.model.expect:<9}",
            *self._sizes(),
            f"{result.seconds:6.1f} s",
        ]
        if result.verdict == "violation":
            parts.append(str(result.property or result.kind))
        return "  ".join([*parts, *(f"!! {difference}" for difference in self.disagreements)])

    def _sizes(self) -> tuple[str, str]:
        result = self.result
        if self.model.simulate:
            return f"{_count(result.generated):>10} random  ", f"steps {_count(self.model.steps):>4}"
        return f"{_count(result.distinct):>10} distinct", f"depth {_count(result.depth):>4}"

    def to_json(self) -> dict[str, object]:
        """Return the outcome without its trace, for ``--json`` and the report."""
        return {
            "name": self.model.name,
            "mutant": self.model.mutant,
            "profile": self.model.profile,
            "verdict": self.result.verdict,
            "expected": self.model.expect,
            "property": self.result.property,
            "distinct": self.result.distinct,
            "generated": self.result.generated,
            "depth": self.result.depth,
            "seconds": round(self.result.seconds, 3),
            "reason": self.result.reason,
            "disagreements": list(self.disagreements),
        }


def read_manifest(path: Path | None = None) -> list[SpecModel]:
    """Return the models of a manifest, else of our own; a malformed manifest ends the command."""
    try:
        return load_manifest(path or spec_dir() / "manifest.toml")
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None


def record_counts(path: Path | None, outcome: SpecOutcome) -> None:
    """Write the sizes of a model into its manifest; of a deep one also how long it took, and today's date."""
    values: dict[str, int | str] = dict(counts(outcome.model, outcome.result))
    if outcome.model.profile == "deep" and not outcome.model.simulate:
        values |= {"seconds": max(1, round(outcome.result.seconds)), "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    record(path or spec_dir() / "manifest.toml", outcome.model.name, values)


def named(models: Sequence[SpecModel], names: Collection[str]) -> list[SpecModel]:
    """Return the models of these names (a mutant also by its id); an unknown name ends the command."""
    known = {model.mutant: model for model in models if model.mutant} | {model.name: model for model in models}
    return exits.named("model", known, names, "latchfree spec --list")


def run_all(
    models: Sequence[SpecModel],
    settings: Settings,
    report: Report,
    on_outcome: Callable[[SpecOutcome], object] = lambda _: None,
    slots: Slots | None = None,
    first: Collection[str] = (),
) -> list[SpecOutcome]:
    """Run models: those with several workers alone, the others `CORES` at a time; in the order they end.

    Parameters
    ----------
    models : sequence of SpecModel
        The models, each with its expected verdict.
    settings : Settings
        The global options, such as the time limit.
    report : callable
        Shows the progress.
    on_outcome : callable, optional
        Called with each outcome, in order.
    slots : Slots, optional
        Places shared with other work: each model takes one, those with the most states first.
    first : collection of str
        Names of models that begin before the others, where places are shared.

    Raises
    ------
    ToolMissing
        If there is no Java or no TLC, before anything runs.
    """
    find_java()
    find_jar()
    archive: Path | None = None
    outcomes: list[SpecOutcome] = []

    def size(model: SpecModel) -> float:
        return (model.distinct or 0) + (URGENT if model.name in first else 0)

    def run(model: SpecModel) -> SpecOutcome:
        with slots.taken(size(model)) if slots else nullcontext(True) as place:
            return _outcome(model, checked(model) if place else TlcResult("unknown", reason="interrupted"))

    def checked(model: SpecModel) -> TlcResult:
        return run_model(
            model,
            timeout=settings.timeout,
            cancelled=settings.cancelled,
            archive=archive,
            seed=settings.chosen_seed if model.simulate else 0,
            on_progress=lambda *sizes: report(f"spec {model.name}: {_progress(model, *sizes)}"),
        )

    def take(results: Iterable[SpecOutcome]) -> None:
        for outcome in results:
            outcomes.append(outcome)
            report(f"spec: {len(outcomes)} of {len(models)} models")
            on_outcome(outcome)

    if slots:
        models = sorted(models, key=size, reverse=True)
    pool = ThreadPoolExecutor(slots.count if slots else CORES)
    try:
        # Not in the main thread: Ctrl-C while Java is being started would lose it.
        archive = pool.submit(_archive, models, settings, slots).result()
        take(pool.submit(run, model).result() for model in models if model.workers > 1)
        take(pool.map(run, [model for model in models if model.workers == 1]))
    except BaseException:
        settings.cancelled.set()
        kill_running()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return outcomes


def _archive(models: Sequence[SpecModel], settings: Settings, slots: Slots | None) -> Path | None:
    """Return the archive of TLC's classes, if so many models are to run that it pays."""
    if len(models) < MANY:
        return None
    from latchfree.jit import cache_root

    with _ARCHIVE, slots.taken(float("inf")) if slots else nullcontext(True) as place:
        return class_archive(cache_root(), settings.cancelled) if place else None


def _outcome(model: SpecModel, result: TlcResult) -> SpecOutcome:
    return SpecOutcome(model, result, tuple(agree(model, result)))


def counterexample(outcome: SpecOutcome) -> str:
    """Return the trace of a violation as text, one column per process."""
    from latchfree_model.tlc.render import render

    result, model = outcome.result, outcome.model
    text = io.StringIO()
    console = plain_console(text, width=160, color_system=None)
    console.print(f"{model.name}: {model.summary}")
    console.print(f"{result.kind} {result.property or ''} is violated".replace("  ", " "))
    if result.trace:
        console.print(render(result.trace))
    return text.getvalue()


def in_few_words(outcome: SpecOutcome, timeout: float | None) -> str:
    """Return the trace of a violation as the alias of its module tells it, "" if there is no trace.

    Raises
    ------
    NoAlias
        If the module has none.
    """
    from latchfree_model.tlc.alias import told_by_alias
    from latchfree_model.tlc.render import render_alias

    trace = outcome.result.trace
    if trace is None:
        return ""
    text = io.StringIO()
    said = told_by_alias(outcome.model, trace, timeout=timeout)
    plain_console(text, width=160, color_system=None).print(render_alias(trace, said))
    return text.getvalue()


def write_counterexample(outcome: SpecOutcome, settings: Settings) -> list[str]:
    """Write the trace to ``spec/NAME.txt`` and ``spec/NAME.json`` below the output folder."""
    name = f"spec/{outcome.model.name}"
    document = {"version": 1, "name": outcome.model.name, **outcome.result.to_json()}
    return [
        str(settings.write(f"{name}.txt", counterexample(outcome))),
        str(settings.write(f"{name}.json", json.dumps(document, ensure_ascii=False, indent=1) + "\n")),
    ]


def _progress(model: SpecModel, distinct: int, generated: int, queue: int) -> str:
    return f"{generated:,} random states" if model.simulate else f"{distinct:,} distinct states, {queue:,} on the queue"


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
