"""The `latchfree` command."""
