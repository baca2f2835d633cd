"""``latchfree mutants --systematic``: every kernel, changed in every small way, and which layer notices.

Example: ``latchfree mutants --systematic --only gcas --sample 20 --seed 1`` changes twenty places of one file, one at a
time, and prints what became of each kind of change.
"""

from collections import Counter
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from latchfree_cli import exits
from latchfree_cli.settings import Outcome, Settings
from latchfree_cli.slots import processors

FILE: Final = "systematic-mutants.json"


def list_mutants(settings: Settings, only: str, sample: int | None, *, diffs: bool) -> Outcome:
    """Print the names of the mutants, with their differences if wanted."""
    chosen = _chosen(only, sample, settings)
    for _, mutant in chosen:
        settings.say(mutant.name)
        if diffs:
            settings.say(mutant.diff() + "\n")
    names = [mutant.name for _, mutant in chosen]
    return Outcome("listed", {"mutants": names}, code=exits.OK)


def run_all(settings: Settings, only: str, sample: int | None, *, resume: bool, jobs: int | None) -> Outcome:
    """Judge the mutants, print a table and the survivors, and write the record."""
    from latchfree_evidence.systematic.equivalents import reasons
    from latchfree_evidence.systematic.layers import LAYERS, coverage
    from latchfree_evidence.systematic.running import run

    chosen, argued = _chosen(only, sample, settings), reasons()
    settings.note(f"mutants: seed {settings.chosen_seed}")
    into: Path = settings.out / FILE
    into.parent.mkdir(parents=True, exist_ok=True)
    with settings.progress("mutants: what each trial calls") as report:
        for group in dict.fromkeys(group for group, _ in chosen):
            coverage(group)
        record = run(
            chosen,
            LAYERS,
            into=into,
            resume=resume,
            seed=settings.chosen_seed,
            argued=argued,
            jobs=jobs or processors(),
            on_progress=lambda done, name: report(f"{done} of {len(chosen)}: {name}"),
        )
    judged = {mutant.name: record["mutants"][mutant.name] for _, mutant in chosen}
    settings.say(_table(judged))
    left = [name for name, verdict in judged.items() if verdict["layer"] is None]
    open_ = [name for name in left if name not in argued]
    for name in open_:
        settings.say(f"survives: {name}")
    settings.say(
        f"{len(judged) - len(left)} of {len(judged)} killed; {len(left) - len(open_)} survivors have a reason, "
        f"{len(open_)} have none"
    )
    settings.note(f"wrote {into}")
    again = f"latchfree mutants --systematic --list --diff --only '{_file(open_[0])}'" if open_ else None
    return Outcome("violation" if open_ else "ok", {"mutants": judged, "survivors": open_}, reproduce=again)


def _file(name: str) -> str:
    return name.partition(" ")[0]


def _chosen(only: str, sample: int | None, settings: Settings) -> list[Any]:
    from latchfree_evidence.systematic.running import chosen

    try:
        return chosen(only, sample, settings.chosen_seed if sample is not None else 0)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None


def _table(judged: dict[str, Any]) -> Table:
    layers = list(dict.fromkeys(each["layer"] for each in judged.values() if each["layer"] is not None))
    counts = Counter((verdict["operator"], verdict["layer"]) for verdict in judged.values())
    table = Table("change", "mutants", *layers, "survive")
    for operator in sorted({operator for operator, _ in counts}):
        row = [counts[operator, layer] for layer in (*layers, None)]
        table.add_row(operator, str(sum(row)), *map(str, row))
    return table
