"""The operators' listener: liveness, readiness, metrics.  Loopback by default, no key.

/livez answers while the process runs; /readyz is red while no engine of a required pool is up or
the audit log cannot be written, and says which (Kubernetes probe conventions).
"""

import asyncio

from aiohttp import web

from ..audit import Ledger
from ..telemetry import CONTENT_TYPE, Telemetry
from .clients.responses import SOFTWARE
from .world import World


class Admin:
    """Pages about one running proxy; they hold names and numbers, no text of any request."""

    def __init__(self, world: World, ledger: Ledger, telemetry: Telemetry) -> None:
        self._world = world
        self._ledger = ledger
        self._telemetry = telemetry
        self.draining = False
        """Set when the proxy is about to end: nobody should send it more."""

    def app(self) -> web.Application:
        """The pages."""
        app = web.Application()
        app.on_response_prepare.append(_sign)
        app.router.add_get("/livez", self._live)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/metrics", self._metrics)
        return app

    def troubles(self) -> list[str]:
        """Why the proxy is not ready; empty when it is."""
        pools = {route.pool.name: route.pool for route in self._world.router.routes}
        found = [
            f"pool {pool.name}: no engine is up"
            for pool in pools.values()
            if pool.required and not pool.up
        ]
        if self.draining:
            found.append("draining: the proxy is about to end")
        if not self._ledger.healthy:
            found.append(f"audit log: {self._ledger.failure}")
        return found

    async def _live(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _ready(self, _: web.Request) -> web.Response:
        troubles = self.troubles()
        if troubles:
            return web.Response(status=503, text="\n".join(troubles) + "\n")
        return web.Response(text="ok\n")

    async def _metrics(self, _: web.Request) -> web.Response:
        self._telemetry.metrics.audit_up(up=self._ledger.healthy)
        text = await asyncio.to_thread(self._telemetry.metrics_text)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE})


async def _sign(_: web.Request, response: web.StreamResponse) -> None:
    response.headers["Server"] = SOFTWARE
