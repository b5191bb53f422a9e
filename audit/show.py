"""Finding the records of one request."""

from pathlib import Path
from typing import Any

import orjson

from .frame import unframed
from .layout import Folder, with_stops
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
    for root in logs_in(directory):
        found += _in_log(Folder(root), request_id)
    return found[:MAX_SHOWN]


def _in_log(folder: Folder, request_id: str) -> list[dict[str, Any]]:
    # Most lines are passed over by a substring search, without being parsed.
    wanted = {request_id: orjson.dumps(request_id)} if request_id else {}
    found: list[dict[str, Any]] = []
    for segment, stop in with_stops(folder.segments()):
        for line in segment.lines():
            if not any(text in line for text in wanted.values()) or unframed(line) is None:
                continue
            head = head_of(line)
            if head is None or (stop is not None and head.n >= stop):
                continue  # no record, or given up: the next segment holds what counts
            record = fields_of(line)
            if len(found) < MAX_SHOWN and _concerns(record, wanted):
                wanted[head.id] = orjson.dumps(head.id)
                found.append(record)
    return found


def _concerns(record: dict[str, Any], wanted: dict[str, bytes]) -> bool:
    if record.get("k") != "llm.decision":
        return str(record.get("ref")) in wanted
    request = record.get("req")
    told = request.get("id") if isinstance(request, dict) else None
    return str(record.get("id")) in wanted or str(told) in wanted
