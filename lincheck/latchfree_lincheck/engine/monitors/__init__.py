"""The compiled code of the monitors (`latchfree_lincheck.engine.monitor`), each with its theorem in its own file."""
