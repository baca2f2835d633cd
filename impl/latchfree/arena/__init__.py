"""The arena: memory of 64-bit words shared by every structure built in it."""

from latchfree.arena.arena import Arena

__all__ = ["Arena"]
