"""Compiled: the hashes of other libraries, and sketches whose cells these choose."""
