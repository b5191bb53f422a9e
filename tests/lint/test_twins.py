from pathlib import Path

from tests.lint.twins import missing


def touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_a_file_with_its_twin_passes(tmp_path: Path) -> None:
    touch(tmp_path, "proxy/stream/sse.py", "tests/proxy/stream/test_sse.py")

    assert list(missing(tmp_path)) == []


def test_a_twin_at_another_path_does_not_count(tmp_path: Path) -> None:
    touch(tmp_path, "proxy/stream/sse.py", "tests/proxy/test_sse.py")
    expected = ["proxy/stream/sse.py: its test tests/proxy/stream/test_sse.py is missing"]

    assert expected == list(missing(tmp_path))


def test_packages_need_no_twin(tmp_path: Path) -> None:
    touch(tmp_path, "proxy/__init__.py", "proxy/__main__.py")

    assert list(missing(tmp_path)) == []
