"""The same work under tensorx and its peers, side by side. ``python -m benchmarks --help``."""
