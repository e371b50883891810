"""What a device's Capabilities were before TENSORX_CAPS_MASK made them weaker."""

from __future__ import annotations

import pytest

from tensorx.kernels.capabilities import Capabilities

_before: dict[Capabilities, Capabilities] = {}


def watch(patch: pytest.MonkeyPatch) -> None:
    """Remember it for every device that is opened from now on."""
    usual = Capabilities.masked

    def masked(self: Capabilities, text: str | None = None) -> Capabilities:
        weak = usual(self, text)
        if text is None:
            _before[weak] = self
        return weak

    patch.setattr(Capabilities, "masked", masked)


def before(caps: Capabilities) -> Capabilities:
    """The unmasked ones; ``caps`` themselves without a mask."""
    return _before.get(caps, caps)
