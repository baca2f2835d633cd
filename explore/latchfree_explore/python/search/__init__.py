"""Which schedules are run, and which orders of calls each one stands for."""
