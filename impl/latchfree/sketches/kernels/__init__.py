"""The compiled functions of sketches."""
