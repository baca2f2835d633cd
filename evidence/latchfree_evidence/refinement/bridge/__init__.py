"""The bridge from the specification to the machine code: labels, and the state graph replayed step by step."""
