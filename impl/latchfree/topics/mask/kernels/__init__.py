"""The compiled code of the mask index."""
