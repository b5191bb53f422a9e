"""Puts the heap of a server on huge pages, where Linux and its C library can.

What a request touches is spread over some hundred megabytes of heap, more pages of 4 KiB than a
processor has translations for; on a virtual machine each one that is missing costs two walks
through page tables.  glibc asks for huge pages if it is told so when a process starts
(glibc manual, "Memory Allocation Tunables": `glibc.malloc.hugetlb`; 2.35 or later).
"""

import os
import sys
from collections.abc import Callable, Mapping

TUNABLES = "GLIBC_TUNABLES"
HUGE_HEAP = "glibc.malloc.hugetlb=1"
"""To mark the heap with madvise(2): the kernel may still say no, and nothing breaks."""

Execute = Callable[[str, list[str], Mapping[str, str]], object]


def start_over(environ: Mapping[str, str], execute: Execute = os.execve) -> None:
    """Become the same command with a heap on huge pages; the process id stays.

    Returns where that is not possible, has been done, or is not wanted: whoever has set
    GLIBC_TUNABLES, be it to nothing, has chosen.
    """
    if TUNABLES in environ or not _has_glibc() or not sys.executable:
        return
    command = [sys.executable, *sys.orig_argv[1:]]
    execute(sys.executable, command, {**environ, TUNABLES: HUGE_HEAP})


def _has_glibc() -> bool:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (AttributeError, OSError, ValueError):  # another system, another C library
        return False
