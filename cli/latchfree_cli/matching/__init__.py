"""The parts of ``latchfree match``: lines as they come, who is interested, and how answers are written."""
