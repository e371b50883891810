"""Automatic differentiation: grad modes, the backward engine, hooks, custom functions and gradient checks."""
