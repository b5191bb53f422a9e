from hashlib import sha256

import pytest

from tidegate.audit.tree import (
    EMPTY,
    Frontier,
    consistency,
    extends,
    includes,
    inclusion,
    leaf_hash,
    node_hash,
    root_of,
)

LEAVES = [leaf_hash(bytes([i])) for i in range(40)]


def recursive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 §2.1 as it is written there."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    return sha256(
        b"\x01" + recursive_root(leaves[:middle]) + recursive_root(leaves[middle:])
    ).digest()


def test_roots_are_those_of_the_rfc_certificate_transparency_vectors() -> None:
    # The eight leaves and roots that the CT reference implementation publishes.
    data = ["", "00", "10", "2021", "3031", "40414243"]
    leaves = [leaf_hash(bytes.fromhex(text)) for text in data]

    assert root_of([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert (
        root_of(leaves[:1]).hex()
        == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )
    assert (
        root_of(leaves[:2]).hex()
        == "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
    )
    assert (
        root_of(leaves).hex() == "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"
    )


def test_the_frontier_has_the_root_of_the_recursive_definition() -> None:
    frontier = Frontier()
    roots = [frontier.root()]
    for leaf in LEAVES:
        frontier.add(leaf)
        roots.append(frontier.root())

    assert [recursive_root(LEAVES[:size]) for size in range(len(LEAVES) + 1)] == roots
    assert len(LEAVES) == frontier.size


def test_every_inclusion_proof_holds_and_no_changed_one_does() -> None:
    for size in range(1, 34):
        leaves = LEAVES[:size]
        root = root_of(leaves)
        for index in range(size):
            path = inclusion(leaves, index)

            assert includes(leaves[index], index, size, path, root)
            assert not includes(LEAVES[39], index, size, path, root)
            assert not includes(leaves[index], index, size, [*path, root], root)
            assert not path or not includes(leaves[index], index, size, path[:-1], root)
            assert not includes(leaves[index], index, size, path, EMPTY)


def test_every_consistency_proof_holds_and_no_changed_one_does() -> None:
    for size in range(1, 34):
        new = (size, root_of(LEAVES[:size]))
        for old_size in range(1, size + 1):
            old = (old_size, root_of(LEAVES[:old_size]))
            path = consistency(LEAVES[:size], old_size)

            assert extends(old, new, path)
            assert not extends((old_size, EMPTY), new, path)
            assert not extends(old, new, [*path, EMPTY])
            assert not path or not extends(old, new, path[:-1])
            assert old_size == size or not extends(old, (size, EMPTY), path)


def test_an_empty_tree_is_extended_by_any() -> None:
    assert extends((0, EMPTY), (3, root_of(LEAVES[:3])), [])
    assert not extends((0, EMPTY), (3, root_of(LEAVES[:3])), [EMPTY])
    assert not extends((0, LEAVES[0]), (3, root_of(LEAVES[:3])), [])


def test_a_tree_is_not_extended_by_a_smaller_one() -> None:
    assert not extends((3, root_of(LEAVES[:3])), (2, root_of(LEAVES[:2])), [])
    assert not extends((-1, EMPTY), (2, root_of(LEAVES[:2])), [])


def test_an_empty_path_proves_nothing_of_two_sizes() -> None:
    assert not extends((3, root_of(LEAVES[:3])), (7, root_of(LEAVES[:7])), [])


def test_a_leaf_outside_the_tree_is_not_included() -> None:
    assert not includes(LEAVES[0], 1, 1, [], LEAVES[0])
    assert not includes(LEAVES[0], -1, 1, [], LEAVES[0])


def test_there_is_no_proof_of_what_is_not_there() -> None:
    with pytest.raises(IndexError):
        inclusion(LEAVES[:2], 2)
    with pytest.raises(IndexError):
        consistency(LEAVES[:2], 3)


def test_a_leaf_is_never_a_node() -> None:
    left, right = LEAVES[:2]

    assert leaf_hash(left + right) != node_hash(left, right)
