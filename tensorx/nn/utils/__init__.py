"""Helpers for modules and their parameters."""

from . import rnn
