"""What rewritten code calls at each access, call, and turn of a loop.

There is one file for each kind of hook, and one for each thing that several hooks do.
"""
