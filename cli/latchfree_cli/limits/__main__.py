"""``python -m latchfree_cli.limits``: print the table of ``docs/limits.md``."""

import sys

from latchfree_cli.limits.table import table
from latchfree_cli.process import run

if __name__ == "__main__":
    sys.exit(run(lambda: print(table(), end=""), verbose=False))
