"""Learning: a folder with one file a lesson, watched while the student works on it."""
