"""Every bound of the package, in one table made from the code."""
