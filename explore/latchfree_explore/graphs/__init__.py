"""One run of compiled code for each execution graph that a memory model allows.

`latchfree_explore.weak.exploring` does the same for litmus programs, whose accesses are known beforehand. Here the code
says what it accesses next, so the code runs: along a graph, and from there to its end.
"""
