"""Where uvicorn goes another way than a connection of ours: when it reads on, and when it is told to give up."""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class Flow(FlowControl):
    """uvicorn has reading go on after every answer; here only where nothing waits."""

    def __init__(self, transport: asyncio.Transport, may_read: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._may_read = may_read

    def resume_reading(self) -> None:
        if self.read_paused and self._may_read():
            super().resume_reading()


def until_given_up(app: Any, cycle: RequestResponseCycle) -> Any:
    """The ASGI application; what it has not answered when the server gives up is not logged as a fault with frames."""

    async def answered(*asked: Any) -> None:
        try:
            await app(*asked)
        except asyncio.CancelledError:
            cycle.disconnected = True
            cycle.transport.abort()

    return answered
