"""Running word-level code on symbolic 64-bit words, to prove things about it for all of them with Z3."""
