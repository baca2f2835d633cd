"""The standard library under control: locks, `_thread`, time, private copies, and what stands in for what."""
