"""Small programs in chosen interleavings, in plain Python."""
