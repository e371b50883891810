"""`tensorx.io` under PyTorch's name for it."""

from tensorx.io import (
    add_safe_globals,
    clear_safe_globals,
    default_restore_location,
    get_safe_globals,
    get_unsafe_globals_in_checkpoint,
    load,
    safe_globals,
    save,
)

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
]
