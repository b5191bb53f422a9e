"""Finding the records of one request."""

from pathlib import Path
from typing import Any

import orjson

from .frame import unframed
from .layout import Folder, with_stops
from .record import Head
from .recovery import fields_of, head_of
from .verify import logs_in

MAX_SHOWN = 1000
"""A client can make many requests look alike only by its own `cid`, which is not searched."""


def show(directory: Path, request_id: str) -> list[dict[str, Any]]:
    """The decision on a request and what refers to it, in the order of the log.

    `request_id` is `req.id`, or the id of the decision record itself.  Reads a log that is being
    written, and skips lines that are not whole: `verify` is what judges them.

    Raises:
        OSError: if a segment cannot be read.

    """
    found: list[dict[str, Any]] = []
    for root in logs_in(directory) if request_id else ():
        found += _in_log(Folder(root), request_id)
    return found[:MAX_SHOWN]


def _in_log(folder: Folder, request_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    ids: set[str] = set()
    # Most lines are passed over by a substring search, without being parsed.
    text = orjson.dumps(request_id.encode(errors="replace").decode())
    for segment, stop in with_stops(folder.segments()):
        for line in segment.lines():
            named = text in line
            head = head_of(line) if named or ids else None
            if head is None or (stop is not None and head.n >= stop):
                continue  # not named, no record, or given up: the next segment holds what counts
            wanted = head.ref in ids or (named and _is_decision(line, head, request_id))
            if wanted and unframed(line):
                ids.add(head.id)
                found.append(fields_of(line))
                if len(found) == MAX_SHOWN:
                    return found
    return found


def _is_decision(line: bytes, head: Head, request_id: str) -> bool:
    if head.k != "llm.decision":
        return False
    request = fields_of(line).get("req")
    told = request.get("id") if isinstance(request, dict) else None
    return request_id in (head.id, told)
