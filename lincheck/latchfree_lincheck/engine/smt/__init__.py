"""An independent judge for small histories, by Z3."""
