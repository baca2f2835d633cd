"""Types of `latchfree.llvm` as seen by the checkers."""

from typing import Any

def register(atomics: Any) -> None: ...
