"""Neural networks: modules, their functions, and initial values."""

from . import attention, functional, init, modules, parallel, utils
from .modules import *  # noqa: F403  the names are listed in modules.__all__
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
