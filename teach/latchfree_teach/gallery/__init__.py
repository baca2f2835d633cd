"""The gallery: a page for each known bug, with its story, what it changes, a play page, and the failing history drawn.

`differences` compares the right source with the wrong one; `entry` makes the pages of one bug, in a process that has
applied it; `building` makes all, each in a process of its own, and the index.
"""
