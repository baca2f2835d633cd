"""What all kinds of sketches share: items and numbers, shapes and their sizes, where a sketch is, a sketch as bytes."""
