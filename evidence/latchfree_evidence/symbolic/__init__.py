"""Run word-level code on symbolic 64-bit words, so that Z3 can prove claims about the code for all words."""
