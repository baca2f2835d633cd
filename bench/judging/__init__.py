"""What `lincheck.py` measures: histories and logs to judge, and the groups of figures."""
