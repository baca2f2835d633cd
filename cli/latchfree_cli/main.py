"""The console script `latchfree`.

The script is there also where the extras are not, so nothing is imported here before `run` can say what is missing.
"""

import sys

from latchfree_cli import process


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(process.run(_command, verbose=process.is_verbose(sys.argv[1:])))


def _command() -> None:
    from typer.main import get_command

    from latchfree_cli.app import app

    get_command(app)(prog_name="latchfree")


if __name__ == "__main__":
    main()
