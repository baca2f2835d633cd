"""What rewritten code calls at each access, call, and turn of a loop.

There is one file for each kind of hook, and one for each fact that hooks ask for.
"""
