"""The command line: `tidegate serve`, `check`, `demo`, `policy`, `key`, `audit`.

Exit status: 0 well, 1 not well (mistakes in a file, a failed start), 2 wrong usage; `audit
verify` has its own (docs/audit.md).  Parts are imported by the command that needs them, so that
`--help` answers at once.
"""

import argparse
import asyncio
import gc
import getpass
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .. import __version__
from .hugepages import start_over

_GC_THRESHOLDS = (20_000, 20, 50)
"""A few hundred open streams are tens of thousands of objects, and hardly any is in a cycle:
Python's own 700 would look through them again and again."""

DEFAULT_FILE = Path("tidegate.yaml")
_LONGEST_LINE = 4096
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    options = _parser().parse_args(argv)
    if argv is None and options.run is _serve:  # called as a program, not as a function
        start_over(os.environ)
    try:
        return int(options.run(options))
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tidegate", description="Guard, route and record the traffic of inference servers."
    )
    parser.add_argument("--version", action="version", version=f"tidegate {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_serve, _add_check, _add_demo, _add_policy, _add_key, _add_audit):
        add(commands)
    return parser


def _command(
    commands: Any, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def _group(commands: Any, name: str, text: str) -> Any:
    parser = commands.add_parser(name, help=text, description=text)
    return parser.add_subparsers(required=True, metavar="COMMAND")


def _add_serve(commands: Any) -> None:
    serve = _command(commands, "serve", "Run the proxy until SIGTERM or SIGINT.", _serve)
    serve.epilog = (
        "The first signal lets running answers finish, for at most limits.drain; a second one "
        "cuts them off. The audit log is closed in both cases, and the exit status is 0."
    )
    _add_file(serve)


def _add_check(commands: Any) -> None:
    check = _command(
        commands, "check", "Report every mistake of a configuration and its policies.", _check
    )
    _add_file(check)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-c",
        "--config",
        type=Path,
        default=Path(os.environ.get("TIDEGATE_CONFIG", DEFAULT_FILE)),
        metavar="FILE",
        help="configuration file (default: $TIDEGATE_CONFIG, else ./tidegate.yaml)",
    )


def _add_demo(commands: Any) -> None:
    demo = _command(
        commands, "demo", "Show it at work: two engines in this process and a tour.", _demo
    )
    demo.add_argument("--once", action="store_true", help="end after the tour; 0 if all went well")
    demo.add_argument("--audit-dir", type=Path, metavar="DIR", help="keep the audit log in DIR")
    demo.add_argument("--port", type=int, metavar="N", help="listen on this port")


def _add_policy(commands: Any) -> None:
    group = _group(commands, "policy", "Work with policy files.")
    test = _command(group, "test", "Compile policy files and run their own tests.", _policy_test)
    test.add_argument(
        "--with",
        type=Path,
        dest="config",
        metavar="CONFIG",
        help="use the detectors of this configuration (default: those that come along)",
    )
    test.add_argument("files", nargs="+", metavar="FILE", help="a policy file, or pack:NAME")


def _add_key(commands: Any) -> None:
    group = _group(commands, "key", "Work with API keys.")
    _command(group, "new", "Make a key: print it once, with the hash to configure.", _key_new)
    _command(group, "hash", "Read a key of your own from stdin and print its hash.", _key_hash)


def _add_audit(commands: Any) -> None:
    group = _group(commands, "audit", "Work with audit logs.")
    verify = _command(group, "verify", "Check that a log is complete and untouched.", _verify)
    verify.add_argument("directory", type=Path, metavar="DIR")
    show = _command(group, "show", "Print the records of one request.", _show)
    show.add_argument("request_id", metavar="REQUEST_ID")
    show.add_argument(
        "--dir", type=Path, default=Path("audit"), metavar="DIR", help="the log (default: ./audit)"
    )


def _serve(options: argparse.Namespace) -> int:
    from ..audit import LedgerFailed  # noqa: PLC0415 - see the top of the file
    from ..telemetry import configure_logging  # noqa: PLC0415
    from .assembly import logged  # noqa: PLC0415
    from .config import load  # noqa: PLC0415

    config = _loaded(lambda: load(options.config, os.environ))
    if config is None:
        return 1
    configure_logging(config.telemetry.log_level)
    for warning in config.warnings:
        logged(warning)
    try:
        ended = _loaded(lambda: _run(_until_signal(config)))
    except (LedgerFailed, OSError) as error:
        print(f"tidegate cannot start: {error}", file=sys.stderr)
        return 1
    return 0 if ended else 1


async def _until_signal(config: Any) -> bool:
    """Serve until a signal; it lets running answers finish, a second one cuts them off."""
    from .gate import running  # noqa: PLC0415 - see the top of the file

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    async with running(config) as gate:
        # What is loaded by now stays: later collections need not look at it again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        await stop.wait()
        for number in _SIGNALS:
            loop.add_signal_handler(number, gate.cut)
    return True


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run on uvloop where it exists: about a tenth less CPU a token."""
    try:
        import uvloop  # noqa: PLC0415 - optional
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


def _loaded(load: Callable[[], Any]) -> Any:
    """What `load` gives, or None after its mistakes were printed."""
    from ..policies import Mistakes  # noqa: PLC0415 - see the top of the file

    try:
        return load()
    except Mistakes as mistakes:
        for problem in mistakes.problems:
            print(problem, file=sys.stderr)
        return None


def _check(options: argparse.Namespace) -> int:
    from .assembly import load_policies  # noqa: PLC0415 - see the top of the file
    from .config import load  # noqa: PLC0415
    from .detection import load_detectors  # noqa: PLC0415

    config = _loaded(lambda: load(options.config, os.environ))
    if config is None:
        return 1
    for warning in config.warnings:
        _warn(warning)
    if _loaded(lambda: load_policies(config, load_detectors(config), _warn)) is None:
        return 1
    print(f"{options.config}: no mistakes")
    return 0


def _warn(warning: object) -> None:
    print(f"{warning} (warning)", file=sys.stderr)


def _policy_test(options: argparse.Namespace) -> int:
    from .assembly import test_policy  # noqa: PLC0415 - see the top of the file
    from .config import load  # noqa: PLC0415
    from .detection import load_detectors  # noqa: PLC0415

    file = options.config
    found = _loaded(lambda: load_detectors(load(file, os.environ) if file else None))
    if found is None:
        return 1
    status = 0
    for name in options.files:
        cases = _loaded(partial(test_policy, name, found, _warn))
        if cases is None:
            status = 1
        else:
            print(f"{name}: {cases} tests passed")
    return status


def _key_new(_: argparse.Namespace) -> int:
    from .access import new_key  # noqa: PLC0415 - see the top of the file

    key, hashed = new_key()
    print(f"key:  {key}\nhash: {hashed}")
    print(
        "The key is shown once. Put the hash into the configuration:\n"
        f"  access:\n    keys:\n      NAME: {{hash: '{hashed}'}}",
        file=sys.stderr,
    )
    return 0


def _key_hash(_: argparse.Namespace) -> int:
    from .access import hash_key  # noqa: PLC0415 - see the top of the file

    try:
        # From stdin, not from the command line: that is seen by every user of the machine.
        print(hash_key(_secret()))
    except ValueError as error:
        print(f"tidegate key hash: {error}", file=sys.stderr)
        return 1
    return 0


def _secret() -> str:
    """One line, not shown where a person types it."""
    if sys.stdin.isatty():
        return getpass.getpass("key: ")
    return sys.stdin.readline(_LONGEST_LINE).rstrip("\r\n")


def _verify(options: argparse.Namespace) -> int:
    from ..audit import render_report, verify  # noqa: PLC0415 - see the top of the file

    report = verify(options.directory)
    print(render_report(report))
    return report.exit_code


def _show(options: argparse.Namespace) -> int:
    from ..audit import render_records, show  # noqa: PLC0415 - see the top of the file

    records = show(options.dir, options.request_id)
    if not records:
        print(
            f"no record of request {options.request_id} in {options.dir}; name the log with --dir",
            file=sys.stderr,
        )
        return 1
    print(render_records(records))
    return 0


def _demo(options: argparse.Namespace) -> int:
    from ..telemetry import configure_logging  # noqa: PLC0415 - see the top of the file
    from .demo import demo  # noqa: PLC0415

    configure_logging("warning")
    return int(
        _run(
            demo(once=options.once, audit_dir=options.audit_dir, port=options.port, out=sys.stdout)
        )
    )
