"""The course: lessons as data, a folder each, and what reads them."""
