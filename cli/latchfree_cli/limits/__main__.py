"""``python -m latchfree_cli.limits``: print the table of ``docs/limits.md``."""

from latchfree_cli.limits.table import table

print(table(), end="")
