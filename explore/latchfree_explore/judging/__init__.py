"""The axioms of `latchfree_explore.weak`, compiled: for graphs of which there are many, and graphs that are large.

`latchfree_explore.weak` says what the models are, in lines that are near to the papers'. Here is the same for machines,
and the tests compare the two.
"""
