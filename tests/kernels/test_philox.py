"""Philox4x32-10 against the known answers that its authors publish.

The plain-integer reference below follows Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
(SC 2011), section 3.3: the tests of the random ops compare the generated kernels with it on counters that the
published list does not hold.
"""

import json
from pathlib import Path

import pytest

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "philox_kat.json").read_text())["vectors"]
MASK = 0xFFFFFFFF


def philox4x32_10(counter, key):
    """Ten rounds over four 32-bit counter words and two key words, in Python integers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return [c0, c1, c2, c3]


def words(texts):
    return [int(text, 16) for text in texts]


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_reference_gives_the_published_words(vector):
    assert philox4x32_10(words(vector["counter"]), words(vector["key"])) == words(vector["result"])
