"""The machine: compiled threads run as fibers of one OS thread and stop before each atomic access.

To follow one access, read `access` (the fiber announces it), `scheduler` (a thread is chosen) and `fibers` (operations
begin and end). `launch` runs one schedule, `loop` runs many, and `machine` is the Python object for all this.
"""
