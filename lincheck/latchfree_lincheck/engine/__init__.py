"""Two searches for a linearization, one contract: plain Python for any model, compiled for the built-in ones."""
