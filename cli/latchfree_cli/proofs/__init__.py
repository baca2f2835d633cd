"""What ``latchfree prove`` runs beside the lemmas."""
