"""Traces of real runs, checked to be behaviours of the specification by TLC."""
