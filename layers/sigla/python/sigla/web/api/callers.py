"""The principal behind credentials, where that may take a moment to find out."""

import asyncio

from sigla.auth.credentials import Authenticator, Slow
from sigla.auth.permissions import Principal


async def caller_of(authenticate: Authenticator, credentials: bytes | None) -> Principal | None:
    """None for unknown credentials. Raises StoreError, Refusal."""
    try:
        return authenticate(credentials)
    except Slow as slow:
        return await asyncio.to_thread(slow.answer)
