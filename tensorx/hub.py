"""``torch.hub``: nothing is downloaded; load files that are on this machine."""

from __future__ import annotations

import os
from typing import Any

_dir: str | None = None


def get_dir() -> str:
    """Where scripts look for what they keep.

    >>> import os
    >>> os.path.isabs(get_dir())
    True
    """
    home = os.environ.get("XDG_CACHE_HOME", os.path.join(os.path.expanduser("~"), ".cache"))
    return _dir or os.path.abspath(os.path.join(home, "tensorx", "hub"))


def set_dir(d: str) -> None:
    """Set what `get_dir` says."""
    global _dir
    _dir = os.path.abspath(os.path.expanduser(d))


def _refuse(name: str) -> Any:
    def f(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"hub.{name}: downloading is not in this version. Hint: fetch the file yourself and load it with "
            "tensorx.load(path)"
        )

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Not in this version: NotImplementedError."
    return f


load, load_state_dict_from_url, download_url_to_file = map(
    _refuse, ("load", "load_state_dict_from_url", "download_url_to_file")
)
list, help = map(_refuse, ("list", "help"))
__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]
