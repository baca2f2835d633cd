"""The console script `latchfree`.

Without the extra `check` the script exists but typer does not, so `run` must be in place before anything is imported.
"""

import sys

from latchfree_cli import process


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(process.run(_command, verbose=process.is_verbose(sys.argv[1:])))


def _command() -> None:
    from typer.main import get_command

    from latchfree_cli.app import application

    get_command(application(sys.argv[1:]))(prog_name="latchfree")


if __name__ == "__main__":
    main()
