"""Protocols of the specification, proved for any number of threads by inductive invariants.

`system` is the language, `proving` the proof by Z3, `instance` the run of the same text, `tie` the comparison with the
specification, `systems` the protocols, `theorems` what is proved of them.
"""
