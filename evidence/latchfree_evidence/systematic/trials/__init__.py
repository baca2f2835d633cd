"""Trials beside plain models: each file has one kind of them. In most of them one operation runs at a time."""
