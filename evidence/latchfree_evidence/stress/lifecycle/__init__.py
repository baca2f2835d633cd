"""Stress the lives of processes: random programs of open, close, fork, exec, exit, stop and kill, and a judge.

Example: program 17 of seed 3 has two processes. One closes one of its two openings of an arena and goes on writing with
the other; meanwhile the other process is killed. Afterwards a new process opens the arena, and must find what both had
been told was written. `program` makes such programs, `campaign` runs many.

===========  =================================================================================
module       content
===========  =================================================================================
program      programs as data, made from a seed
ledger       what each process intends, has acknowledged and is doing, in a mapped file
work         writes and reads of the structures, with the ledger
state        the state of one process of a program
steps_arena  what a process does with the arena
steps_life   what a process does with itself: fork, exec, signals, descriptors, the ways to end
process      one process: step after step
faults       steps that must be found: they test the judge
setting      the arena that a program finds
bystander    a process that has the arena open all the time
watch        when a step takes too long, also on a busy machine
conductor    runs the processes of one program
judge        looks at the arena afterwards
warming      uses everything once, so that it is compiled
descent      descendants and files: how to have none
server       forks a conductor for each program, having compiled everything once
driver       feeds the server, and leaves nothing behind
shrink       makes a failing program small
campaign     many programs
===========  =================================================================================
"""
