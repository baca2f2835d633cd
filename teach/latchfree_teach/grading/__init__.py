"""The grader: a hole filled in, explored in every interleaving, in a process that can do nothing else."""
