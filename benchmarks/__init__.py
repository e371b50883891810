"""Speed and memory, measured beside NumPy and torch in one process: ``python -m benchmarks [NAME ...]``."""
