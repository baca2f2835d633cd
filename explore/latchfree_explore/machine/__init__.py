"""The machine: compiled threads as fibers of one OS thread, stopped before each atomic access."""
