"""The compiled code of the depth-first search."""
