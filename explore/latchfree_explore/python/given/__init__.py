"""What callers give: arguments, functions that can be called as they will be, and what makes an object."""
