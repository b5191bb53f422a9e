from pathlib import Path

from tests.lint.limits import too_long


def write(root: Path, name: str, lines: int) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x\n" * lines)


def test_files_at_their_limits_pass(tmp_path: Path) -> None:
    write(tmp_path, "proxy/a.py", 400)
    write(tmp_path, "tests/proxy/test_a.py", 600)

    assert list(too_long(tmp_path)) == []


def test_each_longer_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, "audit/deep/a.py", 401)
    write(tmp_path, "tests/bench/a.c", 601)
    write(tmp_path, "proxy/pack.yaml", 900)
    expected = [
        "audit/deep/a.py: 401 lines, allowed are 400",
        "tests/bench/a.c: 601 lines, allowed are 600",
    ]

    assert expected == list(too_long(tmp_path))
