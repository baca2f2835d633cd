"""What rewritten code calls at each access, call, and turn of a loop."""
