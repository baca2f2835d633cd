"""Compile Python to machine code, when it is first called, and keep the code."""

from latchfree.jit.aside import aside, waited
from latchfree.jit.lazy import (
    Kernel,
    Named,
    callback,
    entry,
    external,
    instruction,
    is_varied,
    kernel,
    overload,
    recache,
    set_variant,
)
from latchfree.jit.roots import cache_root
from latchfree.jit.starting import start, when_started

__all__ = [
    "Kernel",
    "Named",
    "aside",
    "cache_root",
    "callback",
    "entry",
    "external",
    "instruction",
    "is_varied",
    "kernel",
    "overload",
    "recache",
    "set_variant",
    "start",
    "waited",
    "when_started",
]
