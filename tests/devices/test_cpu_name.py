"""The processor name that a driver's device record points to, in place of one that its compiler refuses."""

import ctypes

from tensorx.devices.cpu_name import level, teach

LOG = "error: unknown target CPU 'generic'\nDevice failed to build the program"


def record(name: bytes) -> tuple[ctypes.Array, ctypes.Array]:
    """Words as a driver's record holds them: a number, no address, an unreadable address, the name's address."""
    text = ctypes.create_string_buffer(name)
    return (ctypes.c_uint64 * 512)(7, 0, 2**63 - 8, ctypes.addressof(text)), text


def test_the_refused_name_is_replaced_and_nothing_else():
    words, text = record(b"generic")
    before = list(words)
    assert teach(ctypes.addressof(words), LOG) == level()
    assert [i for i, (a, b) in enumerate(zip(before, words, strict=True)) if a != b] == [3]
    assert ctypes.string_at(words[3]).decode() == level()
    assert text.value == b"generic"


def test_another_refusal_or_another_name_changes_nothing():
    for name, log in ((b"generic", "error: use of undeclared identifier"), (b"generic-rv64", LOG), (b"znver3", LOG)):
        words, _ = record(name)
        before = list(words)
        assert teach(ctypes.addressof(words), log) == ""
        assert list(words) == before
