"""Grades as text, as a table and as Gradescope's results."""
