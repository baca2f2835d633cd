"""The chain of `latchfree verify`: the layers that run, and the rows of the table."""
