"""Rewrite the source of functions, and have functions run the new code for a while."""
