"""The file with what was learnt: one byte a bucket for each head, and the shipped calibration.

    magic       16 bytes
    bits        uint32, little-endian, as all numbers here; then the orders' count and the orders
    heads       for each: scale, bias and growth (float64), then 2**bits weights (int8)
    calibration its length in bytes (uint32), then JSON

No times, no names of machines: the same training gives the same bytes.
"""

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .calibration import Calibration, dumps, loads
from .features import BITS, ORDERS
from .heads import HEADS

_MAGIC = b"TIDEGATE-INJECT1"
_SHAPE = struct.Struct(f"<II{len(ORDERS)}I")
_HEAD = struct.Struct("<ddd")
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Head:
    """A linear classifier: a window's score is factor x scale x sum + bias.

    A text's raw score is that of its highest window, less `growth` for each doubling of their
    number: the more windows, the higher the highest one of a benign text.
    """

    weights: npt.NDArray[np.int8]
    scale: float
    bias: float
    growth: float


@dataclass(frozen=True, slots=True)
class Artefact:
    """All that is needed to judge; `version` names the weights."""

    heads: Mapping[str, Head]
    calibration: Calibration
    version: str


def version_of(heads: Mapping[str, Head]) -> str:
    """Eight digits that tell these weights from others."""
    return hashlib.sha256(_packed(heads)).hexdigest()[:8]


def write(heads: Mapping[str, Head], calibration: Calibration) -> bytes:
    """The file's content."""
    text = dumps(calibration, version_of(heads)).encode()
    return _packed(heads) + _LENGTH.pack(len(text)) + text


def read(data: bytes) -> Artefact:
    """What the file holds.  Raises ValueError if it is no such file, or of another making."""
    start = len(_MAGIC) + _SHAPE.size
    if data[:start] != _beginning():
        raise ValueError("not an artefact of this version of the classifier")
    heads = {}
    for name in HEADS:
        scale, bias, growth = _HEAD.unpack_from(data, start)
        start += _HEAD.size
        heads[name] = Head(np.frombuffer(data, np.int8, 1 << BITS, start), scale, bias, growth)
        start += 1 << BITS
    (length,) = _LENGTH.unpack_from(data, start)
    start += _LENGTH.size
    version = version_of(heads)
    calibration = loads(data[start : start + length].decode(), version)
    return Artefact(heads, calibration, version)


def _beginning() -> bytes:
    return _MAGIC + _SHAPE.pack(BITS, len(ORDERS), *ORDERS)


def _packed(heads: Mapping[str, Head]) -> bytes:
    parts = [_beginning()]
    for name in HEADS:
        head = heads[name]
        parts += (_HEAD.pack(head.scale, head.bias, head.growth), head.weights.tobytes())
    return b"".join(parts)
