"""``latchfree replay``: run a failing schedule again, exactly."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings


@examples("latchfree replay out/explore-ctrie-S1.json")
def replay(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that latchfree explore wrote.")],
    every_step: Annotated[bool, typer.Option("--every-step", help="Show all accesses.")] = False,
    pdb: Annotated[
        int | None, typer.Option("--pdb", metavar="N", help="Open pdb before step N of plain Python, counted from 0.")
    ] = None,
) -> Outcome:
    """Run a failing schedule again, exactly.

    It fails as long as the bug is there. Where the code has changed the schedule may not fit it any more; then the
    question is open, and exploring the scenario again answers it.
    """
    from latchfree_cli.exploring.classes import replay_class
    from latchfree_explore.replay_files import is_replay

    if is_replay(file, "python-replay"):
        return replay_class(settings, file, pdb)
    if pdb is not None:
        raise exits.Stop(exits.USAGE, f"--pdb is for schedules of plain Python; {file} is of compiled code")
    from latchfree_cli.commands.explore import result_to_json
    from latchfree_evidence.exploring import replay as run
    from latchfree_explore import render

    with settings.progress(f"replay {file}"):
        try:
            result = run(file)
        except ValueError as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
    settings.say(f"replay {file}: {result.verdict}: {result.reason}")
    if result.failure is None:
        return Outcome(result.verdict, result_to_json(result))
    settings.say(f"scenario: {result.failure.scenario}")
    settings.say(render.table(result.failure, every_step=every_step))
    for line in render.around(result.failure):
        settings.say(line)
    settings.say(render.verdict(result.failure))
    return Outcome("violation", result_to_json(result), reproduce=shlex.join(["latchfree", "replay", str(file)]))
