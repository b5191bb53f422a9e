"""Passes a stream from an engine through its screen to the client.

Tokens are relayed where they arrive, without waking a task for each.  The task that carries the
request is only woken for what must be awaited: the opening record before the first byte, a client
that does not keep up, and the end.

Nothing goes out before the first token has come: until then another engine may be asked.
"""

from .clients.reply import Reply
from .clients.responses import EVENTS
from .dialects.base import Usage
from .engines.upstream import EngineAnswer
from .errors import EngineFailed
from .exchange import Exchange, monotonic
from .screening import Screening
from .stream.screen import StreamScreen
from .usage import estimated
from .world import World


class Relay:
    """One stream on its way."""

    def __init__(self, x: Exchange, w: World, reply: Reply, names: tuple[str, str] | None) -> None:
        if x.route is None or x.reading is None:
            raise AssertionError("a request without a route reached an engine")
        self._x = x
        self._w = w
        self._reply = reply
        self._screen = StreamScreen(
            w.dialect,
            Screening(x, x.route),
            wants_usage=x.reading.wants_usage,
            names=names,
        )
        self._waiting = b""

    async def run(self, answer: EngineAnswer) -> None:
        """Relay the whole answer but its end marker, which stays staged.

        Raises:
            EngineFailed: the stream broke off or told of a failure; what came before it was sent.
            Refused: it cannot be searched, and the policy lets nothing pass unread.
            ConnectionError: the client left.

        """
        screen = self._screen
        try:
            while not screen.over and not answer.complete:
                await answer.pump(self._take)
                await self._catch_up()
            self._waiting += screen.finish()
        except EngineFailed as failure:
            self._waiting += screen.abort()
            screen.failure = screen.failure or failure
        finally:
            self._account()
        if self._waiting and (self._reply.started or screen.failure is None):
            await self._begin()
            await self._reply.write(self._waiting)
        if screen.failure is not None:
            raise screen.failure
        self._reply.stage(screen.last, EVENTS)

    def _take(self, piece: bytes) -> bool:
        """Screen a piece and send what may go; whether to go on without the task."""
        screen = self._screen
        before = screen.text_events
        now = monotonic()
        out = screen.feed(piece)
        if screen.text_events > before:
            self._x.tokens_came(now, screen.text_events - before)
        if not self._reply.started:
            self._waiting += out
            return not screen.text_events and not screen.over
        if screen.over:
            self._waiting += out
            return False
        return not out or self._reply.send(out)

    async def _catch_up(self) -> None:
        """Do what could not be done where the bytes arrived."""
        if self._reply.started:
            await self._reply.drained()
        elif self._waiting and self._screen.text_events and not self._screen.failure:
            await self._begin()
            waiting, self._waiting = self._waiting, b""
            await self._reply.write(waiting)

    async def _begin(self) -> None:
        if not self._reply.started:
            await self._w.recorder.opened(self._x)
            self._reply.start(EVENTS)
            self._x.sent = b""  # nobody else will be asked

    def _account(self) -> None:
        """What the stream was, as far as it came."""
        x, screen = self._x, self._screen
        x.finish_reasons = screen.finish_reasons
        x.answer_length = screen.text_length
        x.model_answered = screen.model
        x.held_max, x.held_total = screen.held_max, screen.held_total
        x.usage, x.usage_estimated = screen.usage, False
        if screen.usage is None and screen.text_events:
            prompt = estimated(x, ()).prompt_tokens
            x.usage, x.usage_estimated = Usage(prompt, screen.text_events), True
