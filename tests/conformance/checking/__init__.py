"""The checks of conformance: samples and oracles from rows, layouts, comparison, and one function a property.

Each check takes a row (an `Op`, which need not be in the table) and a device, and raises AssertionError: so tests of
the tests can plant faults and see that the check fails.
"""
