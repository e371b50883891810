"""The kinds of ops: each owns its shape rule, its NumPy routine, its kernels and its backward node."""
