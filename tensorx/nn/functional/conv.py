"""Convolutions: PyTorch's functional names for the rows of the table."""

from __future__ import annotations

import tensorx as tx

conv1d, conv2d, conv3d = tx.conv1d, tx.conv2d, tx.conv3d
conv_transpose1d, conv_transpose2d, conv_transpose3d = tx.conv_transpose1d, tx.conv_transpose2d, tx.conv_transpose3d
conv_tbc = tx.conv_tbc
