"""The reference of the budgets: a reverse proxy as one would write it with aiohttp, and no more.

Run as `python plain.py PORT UPSTREAM_PORT`.  It is deliberately not tuned: catch-all route,
default ClientSession, asyncio's own loop, access log off, and `iter_any` for streams.
"""

import asyncio
import sys

from aiohttp import ClientSession, TCPConnector, web
from multidict import CIMultiDict, CIMultiDictProxy

HOP_BY_HOP = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailers",
        "transfer-encoding",
        "upgrade",
    }
)
"""RFC 9110 section 7.6.1, and the two headers that each side writes itself."""


def forwarded(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The headers that go on to the other side."""
    return CIMultiDict((k, v) for k, v in headers.items() if k.lower() not in HOP_BY_HOP)


async def serve(port: int, upstream_port: int) -> None:
    """Relay everything until the process is ended."""
    upstream = f"http://127.0.0.1:{upstream_port}"
    async with ClientSession(connector=TCPConnector(limit=0)) as session:

        async def relay(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            async with session.request(
                request.method,
                upstream + request.path_qs,
                data=body,
                headers=forwarded(request.headers),
                allow_redirects=False,
            ) as answer:
                headers = forwarded(answer.headers)
                if answer.content_type != "text/event-stream":
                    data = await answer.read()
                    return web.Response(status=answer.status, body=data, headers=headers)
                reply = web.StreamResponse(status=answer.status, headers=headers)
                await reply.prepare(request)
                async for piece in answer.content.iter_any():
                    await reply.write(piece)
                await reply.write_eof()
                return reply

        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{tail:.*}", relay)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, backlog=4096).start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
