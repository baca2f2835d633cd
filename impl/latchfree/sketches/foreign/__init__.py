"""Sketches that other libraries read: by whose hash items are placed, and the bytes of these libraries, both ways."""
