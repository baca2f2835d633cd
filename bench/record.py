"""Measure, record, and write the tables of the pages: ``python bench/record.py NAME...``, or no name: write them anew.

Example: ``python bench/record.py one_key`` runs ``bench/one_key.py``, writes `bench/records/one_key.json`, and puts the
figures where README and docs show them. Without a name nothing is measured. ``--check`` writes nothing; it ends with
code 1 if a page says something else than the records.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
from collections.abc import Sequence

from measuring import records, report, views


def run(name: str) -> records.Record:
    """Run the command of a record.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails: a missed target ends with code 1, and is recorded all the same.
    """
    command, _ = records.COMMANDS[name]
    where, code = report.machine(), records.code_of(name)
    done = subprocess.run([sys.executable, *command], cwd=records.ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, command)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return records.Record(" ".join(command), _commit(), today, where, code, done.stdout)


def _commit() -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=records.ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return git("rev-parse", "--short=10", "HEAD") + ("+" if git("status", "--porcelain") else "")


def main(argv: Sequence[str] | None = None) -> int:
    """Record and write; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/record.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(records.COMMANDS)}")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page differs")
    given = parser.parse_args(argv)
    for name in given.names:
        if name not in records.COMMANDS:
            parser.error(f"no record is called {name!r}; there are {', '.join(records.COMMANDS)}")
    for name in given.names:
        print(f"measuring {name} ...", file=sys.stderr)
        print(records.save(name, run(name)))
    differ = []
    for page in records.PAGES:
        file = records.ROOT / page
        text = file.read_text()
        if (new := views.filled(text)) != text:
            differ.append(page)
            if not given.check:
                file.write_text(new)
    print(f"{'differ from' if given.check else 'written anew from'} the records: {', '.join(differ) or 'none'}")
    return int(given.check and bool(differ))


if __name__ == "__main__":
    sys.exit(main())
