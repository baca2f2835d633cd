"""The shared library with all compiled functions that Python calls: made once, loaded without a compiler."""
