"""Painters: memory as boxes and arrows. Each structure has one; what is not known is drawn word by word."""
