"""Small structures to explore, right and wrong: what a target of your own looks like."""
