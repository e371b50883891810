"""Files: PyTorch's format (:func:`save`, :func:`load`), and safetensors."""

from . import safetensors
from .serialization import default_restore_location, get_unsafe_globals_in_checkpoint, load, save
from .unpickling import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
