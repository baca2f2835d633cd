"""Kernels as plain Python, made in milliseconds."""
