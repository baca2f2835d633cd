"""The course: lessons as data, a folder each, what reads them, and the task at the end."""
