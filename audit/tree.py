"""The Merkle tree of RFC 6962 §2.1: growing root, proofs, and their verification.

Sans-I/O and without state but the frontier.  Leaves and nodes are hashed with different prefixes
so that neither can be passed off as the other.  Verification is RFC 9162 §2.1.3.2 and §2.1.4.2.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

_LEAF, _NODE = sha256(b"\x00"), sha256(b"\x01")
"""Never updated, only copied: OpenSSL begins a copy faster than a new hash."""

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""


def leaf_hash(record: bytes) -> bytes:
    """The hash of a leaf, 32 bytes."""
    digest = _LEAF.copy()
    digest.update(record)
    return digest.digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node, 32 bytes."""
    digest = _NODE.copy()
    digest.update(left + right)
    return digest.digest()


class Frontier:
    """The roots of the complete subtrees of a growing tree: all that appending needs."""

    __slots__ = ("_roots", "size")

    def __init__(self) -> None:
        self.size = 0
        self._roots: list[bytes] = []

    def add(self, leaf: bytes) -> None:
        """Append one leaf hash; amortised one node hash."""
        self.extend((leaf,))

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Append leaf hashes."""
        roots, size = self._roots, self.size
        for leaf in leaves:
            node, rest = leaf, size
            while rest & 1:
                node = node_hash(roots.pop(), node)
                rest >>= 1
            roots.append(node)
            size += 1
        self.size = size

    def root(self) -> bytes:
        """The root over all leaves so far."""
        if not self._roots:
            return EMPTY
        right = self._roots[-1]
        for left in reversed(self._roots[:-1]):
            right = node_hash(left, right)
        return right


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root over leaf hashes."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.add(leaf)
    return frontier.root()


def inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The proof that leaf `index` is in the tree over `leaves`, lowest sibling first.

    Raises:
        IndexError: if there is no such leaf.

    """
    if not 0 <= index < len(leaves):
        raise IndexError(index)
    path: list[bytes] = []
    low, high = 0, len(leaves)
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(root_of(leaves[middle:high]))
            high = middle
        else:
            path.append(root_of(leaves[low:middle]))
            low = middle
    return path[::-1]


def consistency(leaves: Sequence[bytes], old: int) -> list[bytes]:
    """The proof that the tree over `leaves` grew out of the one over its first `old` leaves.

    Raises:
        IndexError: unless 0 < old <= len(leaves).

    """
    if not 0 < old <= len(leaves):
        raise IndexError(old)
    path: list[bytes] = []
    low, high = 0, len(leaves)
    while old != high:
        middle = low + _split(high - low)
        if old <= middle:
            path.append(root_of(leaves[middle:high]))
            high = middle
        else:
            path.append(root_of(leaves[low:middle]))
            low = middle
    if low:
        path.append(root_of(leaves[low:high]))
    return path[::-1]


def _split(size: int) -> int:
    """The largest power of two smaller than `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def includes(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Tell whether `path` proves that `leaf` is number `index` of the `size` under `root`."""
    if not 0 <= index < size:
        return False
    place, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(sibling, found)
            place, last = _climb(place, last)
        else:
            found = node_hash(found, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def extends(old: tuple[int, bytes], new: tuple[int, bytes], path: Sequence[bytes]) -> bool:
    """Tell whether `path` proves that tree `new` (size, root) only appended to tree `old`."""
    (old_size, old_root), (new_size, new_root) = old, new
    if old_size > new_size or old_size < 0:
        return False
    if old_size == new_size:
        return not path and old_root == new_root
    if old_size == 0:
        return not path and old_root == EMPTY
    if old_size & (old_size - 1) == 0:
        path = [old_root, *path]
    if not path:
        return False
    return _fold(old_size, new_size, path) == (old_root, new_root)


def _fold(old_size: int, new_size: int, path: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    place, last = old_size - 1, new_size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    was = now = path[0]
    for sibling in path[1:]:
        if last == 0:
            return None
        if place & 1 or place == last:
            was, now = node_hash(sibling, was), node_hash(sibling, now)
            place, last = _climb(place, last)
        else:
            now = node_hash(now, sibling)
        place, last = place >> 1, last >> 1
    return (was, now) if last == 0 else None


def _climb(place: int, last: int) -> tuple[int, int]:
    """Skip the levels at which an only child is its own parent."""
    while not place & 1 and place:
        place, last = place >> 1, last >> 1
    return place, last
