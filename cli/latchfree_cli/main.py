"""The console script `latchfree`.

Without the extra `check` the script exists but typer does not, so `run` must be in place before anything is imported.
"""

import os
import sys

from latchfree_cli import process
from latchfree_cli.plain import plain_command


def main() -> None:
    """Run the command line and end the process with its exit code.

    After a plain command the process ends at once: all was written, and taking Python and numpy down takes as long as
    judging ten histories.
    """
    plain = plain_command(sys.argv[1:])
    code = process.run(_command if plain is None else plain, verbose=process.is_verbose(sys.argv[1:]))
    if plain is not None:
        os._exit(code)
    sys.exit(code)


def _command() -> None:
    from typer.main import get_command

    from latchfree_cli.app import application

    get_command(application(sys.argv[1:]))(prog_name="latchfree")


if __name__ == "__main__":
    main()
