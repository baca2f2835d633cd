"""What `pipeline.py` measures: the data of its jobs, and how the check grows with them."""
