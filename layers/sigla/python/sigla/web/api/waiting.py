"""Keeps the answer to a wrong secret back."""

import asyncio
from collections.abc import Mapping

from sigla.auth.guesses import Guesses


async def keep_waiting(guesses: Guesses | None, sent: Mapping[bytes, bytes]) -> None:
    """Waits for whoever guesses secrets; who sends none has only forgotten it. sent: headers, by name."""
    if guesses is None or b"authorization" not in sent:
        return
    wait = guesses.wait_s()
    guesses.waiting += 1
    try:
        await asyncio.sleep(wait)
    finally:
        guesses.waiting -= 1
