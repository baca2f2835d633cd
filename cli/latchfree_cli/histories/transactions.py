"""What ``latchfree check`` does with files of transactions: judge their isolation, and draw the anomalies."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, cast

from latchfree_cli import exits
from latchfree_cli.histories.files import kept, stem_of
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_lincheck.formats.source import Source
    from latchfree_lincheck.transactions import TransactionReport
    from latchfree_lincheck.transactions.rw_register import Keys
    from latchfree_lincheck.transactions.transaction import Kind


def check_transaction_files(
    settings: Settings, sources: "dict[Path, Source]", chosen: str | None, level: str | None, keys: str | None
) -> Outcome:
    """Judge the history of each file, write a page for each violation, and return the worst verdict."""
    from latchfree_lincheck.transactions import check_transactions, read_transactions

    level = level or "strict-serializable"
    histories = {}
    for file, source in sources.items():
        try:
            histories[file] = read_transactions(source)
        except ValueError as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
    entries: list[dict[str, object]] = []
    reproduce = None
    for number, (file, history) in enumerate(histories.items(), start=1):
        with settings.progress(f"check: history {number} of {len(histories)}, {stem_of(file)}"):
            try:
                report = check_transactions(
                    history, cast("Kind | None", chosen), level=level, keys=cast("Keys", keys or "unordered")
                )
            except ValueError as error:
                raise exits.Stop(exits.USAGE, f"{file}: {error}") from None
        entry = _entry(file, report)
        say = settings.note if report.verdict == "ok" and not report.names else settings.say
        say(f"{file}: {report.explain()}")
        if report.names:
            name = f"check/{stem_of(file)}"
            settings.write(f"{name}.txt", report.explain(each=len(report.anomalies)) + "\n")
            entry["artefact"] = str(settings.write(f"{name}.html", report.html(str(file))))
            settings.say(f"wrote {entry['artefact']}: open it in a browser")
        if report.verdict == "violation" and kept(file):
            words = ["latchfree", "check", str(file), "--transactions", report.kind, "--level", level]
            reproduce = shlex.join([*words, "--keys", keys] if keys else words)
        entries.append(entry)
    verdicts = [str(entry["verdict"]) for entry in entries if entry["verdict"] != "nothing"]
    return Outcome(exits.worst(verdicts) if verdicts else "nothing", {"histories": entries}, reproduce=reproduce)


def require_alone(**options: object) -> None:
    """Stop if an option was given that makes no difference to transactions."""
    for option, value in options.items():
        if value:
            name = f"--{option.strip('_').replace('_', '-')}"
            raise exits.Stop(exits.USAGE, f"{name} makes no difference to transactions; leave it out")


def _entry(file: Path, report: "TransactionReport") -> dict[str, object]:
    """Return what ``--json`` says of a file."""
    return {
        "file": str(file),
        "history": stem_of(file),
        "kind": report.kind,
        "level": report.level,
        "verdict": report.verdict,
        "transactions": len(report.transactions),
        "anomalies": list(report.names),
        "not": list(report.not_levels),
        "also_not": list(report.also_not),
        "strongest": list(report.strongest),
    }
