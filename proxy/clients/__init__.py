"""Clients: who calls the proxy.

`connection.py` reads their requests, `request.py` is one of them, `reply.py` the way back of its
answer.  With `server.py` these are all that knows their sockets.
"""
