"""One schedule: its steps, its threads, the names of its objects, and what it changes."""
