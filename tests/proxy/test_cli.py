import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import structlog
from tests.audit.logs import changed, lines_of, put_lines, write_log
from tests.gates import configured
from tests.proxy.config.files import MINIMAL, written

import tidegate
from tidegate.proxy import cli, demo, gate
from tidegate.proxy.access import Access, hash_key
from tidegate.proxy.cli import main
from tidegate.proxy.config import AccessKeys

POLICY = """\
version: 1
name: mine
rules:
  - {id: mail, kinds: pii.email, action: redact, reason: None of its business.}
tests:
  - {name: a mail address is masked, text: to a@example.com, expect: redact}
"""
FAILING = POLICY.replace("expect: redact", "expect: block")
OWN_KEY = "a-key-of-my-own-of-some-length"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration file without mistakes."""
    configured(tmp_path, {"a": "http://127.0.0.1:9"})
    return tmp_path / "tidegate.yaml"


def usage(*arguments: str) -> int | str | None:
    """The exit status of a wrong use, or of --help."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return caught.value.code


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert usage("--version") == 0
    assert capsys.readouterr().out == f"tidegate {tidegate.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("key",), ("audit", "show")])
def test_wrong_usage_is_status_2(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert usage(*arguments) == 2
    assert "usage: tidegate" in capsys.readouterr().err


def test_serve_says_what_signals_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert usage("serve", "--help") == 0
    assert "a second one cuts them off" in " ".join(capsys.readouterr().out.split())


def test_check_of_a_file_without_mistakes(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["check", "-c", str(config)])
    out, err = capsys.readouterr()

    assert (status, out, err) == (0, f"{config}: no mistakes\n", "")


def test_check_tells_every_mistake_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tidegate.yaml"
    path.write_text("engines: {a: {ulr: x}}\npools: {main: {engines: [b]}}\nroutes: {}\n")
    status = main(["check", "-c", str(path)])
    out, err = capsys.readouterr()

    assert (status, out) == (1, "")
    assert len(err.splitlines()) >= 3
    assert all(line.startswith(f"{path}:") for line in err.splitlines())


def test_check_shows_warnings_and_still_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = {"a": "http://127.0.0.1:9", "b": "http://127.0.0.1:10"}
    configured(tmp_path, urls, pools={"main": {"engines": ["a"]}})
    status = main(["check", "-c", str(tmp_path / "tidegate.yaml")])

    assert status == 0
    assert "(warning)" in capsys.readouterr().err


def test_check_reads_the_policies_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "policy.yaml").write_text(FAILING)
    policies = {"default": {"file": "policy.yaml"}}
    configured(tmp_path, {"a": "http://127.0.0.1:9"}, policies=policies)
    status = main(["check", "-c", str(tmp_path / "tidegate.yaml")])

    assert status == 1
    assert "policy.yaml:6:" in capsys.readouterr().err


def test_a_rule_that_would_never_fire_is_told_by_check_and_policy_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "  - {id: sway, kinds: injection.*, action: flag, reason: Note.}\n"
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY.replace("tests:", f"{rule}tests:"))
    policies = {"default": {"file": "policy.yaml"}}
    configured(tmp_path, {"a": "http://127.0.0.1:9"}, policies=policies)
    warned = main(["check", "-c", str(tmp_path / "tidegate.yaml")])
    checked = capsys.readouterr().err
    tested = main(["policy", "test", str(file)])
    told = capsys.readouterr().err
    file.write_text(file.read_text().replace("action: flag", "action: block"))
    mistaken = main(["policy", "test", str(file)])

    assert (warned, tested, mistaken) == (0, 0, 1)
    assert told == checked
    assert told.startswith(f"{file}:5:23: the rule 'sway' is for injection.")
    assert told.endswith(" (warning)\n")
    assert f"{file}:5:23: the rule 'sway'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "serve"])
def test_a_missing_file_is_a_mistake(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([command, "-c", str(tmp_path / "none.yaml")])

    assert status == 1
    assert "none.yaml" in capsys.readouterr().err


def test_the_file_may_be_named_by_a_variable(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_CONFIG", str(config))

    assert main(["check"]) == 0


def test_policy_test_takes_the_detectors_of_a_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = written(tmp_path, MINIMAL + "detectors: {pii: {enabled: false}}\n")
    passed = main(["policy", "test", "--with", str(config), "pack:default"])
    told = capsys.readouterr().err
    written(tmp_path, MINIMAL + "detectors: {none: {}}\n")
    refused = main(["policy", "test", "--with", str(config), "pack:default"])

    assert (passed, refused) == (0, 1)
    assert "is for pii.card" in told
    assert "detectors.none cannot be used" in capsys.readouterr().err


def test_policy_test_runs_a_files_own_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(POLICY)
    bad.write_text(FAILING)
    status = main(["policy", "test", str(good), str(bad), "pack:default", "pack:none"])
    out, err = capsys.readouterr()

    assert status == 1
    assert out.splitlines()[0] == f"{good}: 1 tests passed"
    assert out.splitlines()[1].startswith("pack:default: ")
    assert f"{bad}:6:" in err
    assert "pack:none" in err


def test_key_new_prints_a_key_and_the_hash_that_knows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = main(["key", "new"])
    out, err = capsys.readouterr()
    key, hashed = (line.partition(": ")[2].strip() for line in out.splitlines())

    assert status == 0
    assert known(key, hashed) == "alice"
    assert hashed in err
    assert key not in err


def known(key: str, hashed: str) -> str:
    access = Access(AccessKeys.model_validate({"keys": {"alice": {"hash": hashed}}}))
    return access.authenticate([f"Bearer {key}"], [], peer_is_loopback=False).name


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_key_hash_reads_a_key_from_stdin(
    end: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(OWN_KEY + end))
    status = main(["key", "hash"])
    out, _ = capsys.readouterr()

    assert status == 0
    assert known(OWN_KEY, out.strip()) == "alice"
    assert OWN_KEY not in out


def test_key_hash_does_not_show_what_a_person_types(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = io.StringIO()
    monkeypatch.setattr(stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr("getpass.getpass", lambda prompt: OWN_KEY)

    assert main(["key", "hash"]) == 0
    assert capsys.readouterr().out.startswith(hash_key(OWN_KEY).rsplit("$", 2)[0])


def test_key_hash_refuses_a_key_that_can_be_guessed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    status = main(["key", "hash"])
    out, err = capsys.readouterr()

    assert (status, out) == (1, "")
    assert err.startswith("tidegate key hash: a key has 20 to")


def test_audit_verify_tells_a_clean_log_from_a_changed_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(tmp_path, 3)
    clean = main(["audit", "verify", str(tmp_path)])
    lines = lines_of(tmp_path)
    lines[3] = changed(lines[3], code=201)
    put_lines(tmp_path, lines)
    tampered = main(["audit", "verify", str(tmp_path)])

    assert (clean, tampered) == (0, 1)
    assert capsys.readouterr().out


def test_audit_show_prints_the_records_of_a_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(tmp_path, 3)
    found = main(["audit", "show", "req-1", "--dir", str(tmp_path)])
    shown = capsys.readouterr()
    missing = main(["audit", "show", "req-9", "--dir", str(tmp_path)])
    told = capsys.readouterr()

    assert found == 0
    assert "req-1" in shown.out
    assert missing == 1
    assert told.err == f"no record of request req-9 in {tmp_path}; name the log with --dir\n"


def test_the_demo_is_quiet_and_gets_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    async def tour(**options: Any) -> int:
        asked.update(options)
        return 3

    monkeypatch.setattr(demo, "demo", tour)
    monkeypatch.setattr("tidegate.telemetry.configure_logging", asked.setdefault)
    status = main(["demo", "--once", "--audit-dir", str(tmp_path), "--port", "7"])

    assert status == 3
    assert asked == {
        "warning": None,
        "once": True,
        "audit_dir": tmp_path,
        "port": 7,
        "out": sys.stdout,
    }


def test_a_reader_that_has_seen_enough_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[tuple[int, int]] = []

    def broken(_: Any) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(cli, "_key_new", broken)
    monkeypatch.setattr(os, "dup2", lambda source, target: closed.append((source, target)))
    monkeypatch.setattr(sys, "stdout", open(os.devnull, "w"))  # noqa: PTH123, SIM115 - has a number

    assert main(["key", "new"]) == 0
    assert closed[0][1] == sys.stdout.fileno()
    os.close(closed[0][0])
    sys.stdout.close()


@pytest.mark.parametrize("uvloop", [True, False])
def test_serve_runs_until_a_signal(
    config: Path, monkeypatch: pytest.MonkeyPatch, *, uvloop: bool
) -> None:
    if not uvloop:
        monkeypatch.setitem(sys.modules, "uvloop", None)
    running = gate.running

    def signalled(*args: Any, **options: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return running(*args, **options)

    monkeypatch.setattr(gate, "running", signalled)
    monkeypatch.setattr("tidegate.telemetry.configure_logging", lambda level: None)
    monkeypatch.setattr("gc.freeze", lambda: None)

    assert main(["serve", "-c", str(config)]) == 0


def test_serve_says_why_it_cannot_start(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(config.read_text())
    document["audit"]["dir"] = "tidegate.yaml/audit"
    config.write_text(json.dumps(document))
    monkeypatch.setattr("tidegate.telemetry.configure_logging", lambda level: None)
    status = main(["serve", "-c", str(config)])

    assert status == 1
    assert capsys.readouterr().err.startswith("tidegate cannot start: ")


def test_serve_logs_what_has_no_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = {"a": "http://127.0.0.1:9", "b": "http://127.0.0.1:10"}
    configured(tmp_path, urls, pools={"main": {"engines": ["a"]}}, audit={"dir": "tidegate.yaml"})
    monkeypatch.setattr("tidegate.telemetry.configure_logging", lambda level: None)
    with structlog.testing.capture_logs() as logs:
        main(["serve", "-c", str(tmp_path / "tidegate.yaml")])

    assert [log["problem"].split(": ")[1] for log in logs if log["event"] == "config.warning"] == [
        "engines.b is not used, no pool names it, remove it, or use it"
    ]


def test_serve_tells_the_mistakes_of_a_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "policy.yaml").write_text(FAILING)
    policies = {"default": {"file": "policy.yaml"}}
    configured(tmp_path, {"a": "http://127.0.0.1:9"}, policies=policies)
    monkeypatch.setattr("tidegate.telemetry.configure_logging", lambda level: None)
    status = main(["serve", "-c", str(tmp_path / "tidegate.yaml")])

    assert status == 1
    assert "policy.yaml:6:" in capsys.readouterr().err
