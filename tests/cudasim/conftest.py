"""Lets the tests of this folder import its helpers under every import mode of pytest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
