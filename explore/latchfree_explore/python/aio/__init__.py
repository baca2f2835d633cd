"""asyncio: the event loop is one thread of a schedule, and what comes from outside are others."""
