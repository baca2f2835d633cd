"""What threads see: data races, and weak memory, in which a load may read a value that has been overwritten.

Without it, memory is sequentially consistent: each load reads what was stored last. `races` adds vector clocks, which
tell whether plain accesses are ordered. `accesses` adds versions: each word has a list of the writes to it.
"""
