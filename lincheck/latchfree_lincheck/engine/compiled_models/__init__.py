"""The built-in models as compiled code: a call is a row of integers, a state is an integer."""
