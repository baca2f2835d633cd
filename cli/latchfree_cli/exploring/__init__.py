"""What the commands `explore` and `replay` do for classes in plain Python."""
