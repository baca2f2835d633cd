"""Matchers in plain Python, one a file, each under one lock."""
