"""A life that is lived by a seed can be lived again: what is drawn beside it comes from that seed, and in one order."""

import random
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, Self
from uuid import UUID

import pytest

from sigla import backoff
from sigla.associations.verbs import writing
from sigla.regions import bodies, handed_keys
from sigla.stores.dynamodb import catalog, copying, fence
from sigla.stores.s3 import objects

POOLS = (bodies, catalog, copying, fence, handed_keys, objects)


class InTurn:
    """An executor that has no threads: each call is made when it is asked for."""

    def __init__(self, *_: object, **__: object) -> None:
        """As many workers as may be, and none."""

    def submit(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> "Future[Any]":
        future = Future[Any]()
        try:
            future.set_result(call(*args, **kwargs))
        except BaseException as failure:  # noqa: BLE001 - a future holds whatever was raised
            future.set_exception(failure)
        return future

    def map(self, call: Callable[..., Any], *each: Any) -> Iterator[Any]:
        made = [self.submit(call, *arguments) for arguments in zip(*each, strict=True)]
        return (future.result() for future in made)

    def shutdown(self, *_: object, **__: object) -> None:
        """Nothing is under way."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Likewise."""


def repeat(patched: pytest.MonkeyPatch) -> random.Random:
    """What draws from now on; to be given a seed before each life."""
    dice = random.Random()
    for module in POOLS:
        patched.setattr(module, "ThreadPoolExecutor", InTurn)
    patched.setattr(secrets, "token_hex", lambda size: f"{dice.getrandbits(8 * size):0{2 * size}x}")
    patched.setattr(secrets, "randbelow", dice.randrange)
    patched.setattr(backoff, "_jitter", dice)
    patched.setattr(writing, "uuid4", lambda: UUID(int=dice.getrandbits(128)))
    return dice
