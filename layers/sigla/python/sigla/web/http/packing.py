"""Answers in gzip: short ones at once, long ones by a thread beside the event loop, which lets go of the interpreter.

Piece by piece, so that a client that asks for a hundred kilobytes does not wait for one that asks for a hundred
megabytes.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from zlib import compress, compressobj

from sigla.web.http.answer import Answer

LONG = 64 * 2**10
"""Bytes from which an answer is packed in haste, and elsewhere."""

PIECE = 2**20
MOST = 128 * 2**20
"""Bytes of answers that may wait to be packed; what comes then goes out as it is."""

HASTE, CARE = 1, 6
GZIP = 31
"""To zlib: with gzip's head, and its largest window."""


def pack(answer: Answer) -> bytes:
    """The body in gzip, made once per answer: those by id are sent again and again."""
    if answer.packed is None:
        answer.packed = compress(answer.body, level=CARE if len(answer.body) < LONG else HASTE, wbits=GZIP)
    return answer.packed


class Packing:
    """`await packing(answer)` where it is long: false if there is too much to do already, and it goes out unpacked."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, "sigla-packer")

    async def __call__(self, answer: Answer) -> bool:
        size = len(answer.body)
        if self._waiting and self._waiting + size > self._most:
            return False
        self._waiting += size
        try:
            answer.packed = await self._packed(memoryview(answer.body))
        finally:
            self._waiting -= size
        return True

    async def _packed(self, body: memoryview) -> bytes:
        loop, packer = asyncio.get_running_loop(), compressobj(level=HASTE, wbits=GZIP)
        parts = [
            await loop.run_in_executor(self._thread, packer.compress, body[at : at + PIECE])
            for at in range(0, len(body), PIECE)
        ]
        return b"".join([*parts, packer.flush()])
