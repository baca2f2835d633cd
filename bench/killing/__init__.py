"""What `kill.py` runs: the processes that are killed, and what they write down."""
