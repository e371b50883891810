"""``torch.distributed``: training runs in one process. Scripts that ask first go the way of one process; what would
start a group says why not.

>>> is_available(), is_initialized()
(False, False)
"""

from __future__ import annotations

import enum
from typing import Any


class ReduceOp(enum.Enum):
    """How a collective combines values."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


class _Group:
    WORLD = None


class ProcessGroup:
    """What nothing is an instance of."""


group, GroupMember = _Group, _Group


def is_available() -> bool:
    """False: there are no process groups in this version."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_nccl_available() -> bool:
    """False."""
    return False


is_gloo_available = is_mpi_available = is_torchelastic_launched = is_nccl_available


def init_process_group(*args: Any, **kwargs: Any) -> None:
    """Not in this version: NotImplementedError."""
    raise NotImplementedError(
        "distributed.init_process_group: process groups are not in this version. Hint: run the script in one "
        "process, without torchrun"
    )


init_device_mesh = new_group = init_process_group


def destroy_process_group(group: Any = None) -> None:
    """Nothing to end (PyTorch raises here; scripts call it in ``finally``)."""


def _refuse(name: str) -> Any:
    def f(*args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            f"distributed.{name}: Default process group has not been initialized, please make sure to call "
            "init_process_group. "
            "Hint: there are none in this version; test torch.distributed.is_initialized() first"
        )

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Raises ValueError, as PyTorch does before init_process_group."
    return f


_COLLECTIVES = """get_rank get_world_size get_backend barrier all_reduce all_gather all_gather_object
all_gather_into_tensor broadcast broadcast_object_list
    gather gather_object reduce reduce_scatter reduce_scatter_tensor scatter scatter_object_list all_to_all
    all_to_all_single send recv isend irecv
    monitored_barrier get_process_group_ranks get_group_rank get_global_rank""".split()
globals().update({_name: _refuse(_name) for _name in _COLLECTIVES})
__all__ = [  # noqa: PLE0604  (a list of names)
    "GroupMember",
    "ProcessGroup",
    "ReduceOp",
    "destroy_process_group",
    "group",
    "init_device_mesh",
    "init_process_group",
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "new_group",
    *_COLLECTIVES,
]
