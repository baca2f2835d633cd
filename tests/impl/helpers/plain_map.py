"""A plugin of pytest: maps do without compiled slots, as where objects are not as compiled code takes for granted."""

from latchfree.ctrie import interpreter

interpreter.known = lambda: None


def pytest_report_header():
    from latchfree.ctrie.slots import Slots

    assert "get" not in vars(Slots)
    return "maps are plain"
