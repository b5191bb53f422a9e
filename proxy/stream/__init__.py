"""Text streams: events in, screened events out.  Pure: no I/O, no clock."""
