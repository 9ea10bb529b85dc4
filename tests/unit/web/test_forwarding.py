"""Which requests a follower sends on, how many at a time, and what it does where its primary is silent."""

import asyncio
import gc
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.ports.primary import Forwarded, NotSent
from sigla.regions.nouns import RegionSeen
from sigla.stores.clock import SystemClock
from sigla.web.local.following import Following
from sigla.web.local.forwarding import KNOWN, STRANGERS, STRANGERS_IN_LINE, ForwardCounts, Forwarding, Lane
from sigla.web.local.news import News
from sigla.web.local.role_tables import RoleTables
from tests.waiting import eventually

ANSWER = Forwarded(200, {}, b"")


class Primary:
    """Answers as it is told to. targets: what was sent."""

    def __init__(self, answer: Callable[[str], Forwarded] = lambda _: ANSWER) -> None:
        self.answer = answer
        self.up = threading.Event()
        self.targets: list[str] = []
        self.times: list[float] = []

    def forward(self, method: str, target: str, headers: Mapping[str, str], body: bytes, whole_s: float) -> Forwarded:  # noqa: ARG002 - as `Forwards`
        self.targets.append(target)
        self.times.append(whole_s)
        return self.answer(target)

    def answers(self) -> bool:
        return self.up.is_set()


async def sent(forwarding: Forwarding, target: str, *, is_known: bool = True, asks: bool = False) -> Forwarded:
    return await forwarding.send("POST", target, {}, b"", is_known=is_known, asks=asks)


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 - other threads bring it about
            await asyncio.sleep(0.001)


def test_strangers_take_no_place_of_callers_that_are_known() -> None:
    """However many of them hang at the primary, and whoever comes when their line is full is told so at once."""
    gate = threading.Event()

    def answer(target: str) -> Forwarded:
        if target == "stranger":
            gate.wait(30)
        return ANSWER

    async def story() -> None:
        primary = Primary(answer)
        forwarding = Forwarding(primary, SystemClock())
        strangers = [
            asyncio.create_task(sent(forwarding, "stranger", is_known=False))
            for _ in range(STRANGERS + STRANGERS_IN_LINE)
        ]
        await until(lambda: len(primary.targets) == STRANGERS)
        with pytest.raises(NotSent):
            await sent(forwarding, "one more", is_known=False)
        assert await asyncio.gather(*(sent(forwarding, "known") for _ in range(KNOWN + 1))) == [ANSWER] * (KNOWN + 1)
        assert primary.targets.count("stranger") == STRANGERS
        gate.set()
        assert await asyncio.gather(*strangers) == [ANSWER] * len(strangers)

    try:
        asyncio.run(story())
    finally:
        gate.set()


def test_who_waits_in_line_for_too_long_is_not_sent() -> None:
    async def story() -> None:
        lane = Lane("one", 1)
        async with lane.place(1):
            with pytest.raises(NotSent, match="no place became free"):
                async with lane.place(0.01):
                    pass
        async with lane.place(1):
            """It is free again."""

    asyncio.run(story())


@pytest.mark.parametrize("asks, whole_s", [(True, 3.0), (False, 25.0)])
def test_a_question_has_less_time_than_a_write(asks: bool, whole_s: float) -> None:
    primary = Primary()
    asyncio.run(sent(Forwarding(primary, SystemClock()), "any", asks=asks))
    assert whole_s - 1 < primary.times[0] <= whole_s


def failing(failure: Exception) -> Callable[[str], Any]:
    def answer(_: str) -> Forwarded:
        raise failure

    return answer


@pytest.mark.parametrize("failure", [NotSent("refused"), StoreError("lost")])
def test_after_a_failure_nothing_is_sent_until_the_primary_answers_again(failure: Exception) -> None:
    """Also where it is not known what became of a write: the next one does not hang as that did."""

    async def story() -> None:
        primary, counts = Primary(failing(failure)), ForwardCounts()
        forwarding = Forwarding(primary, SystemClock(), counts, silent_s=0.01, look_s=0.01)
        with pytest.raises(type(failure)):
            await sent(forwarding, "first")
        primary.answer = lambda _: ANSWER
        for _ in range(3):
            with pytest.raises(NotSent, match="does not answer"):
                await sent(forwarding, "next")
            await asyncio.sleep(0.02)
        assert primary.targets == ["first"]
        primary.up.set()
        await until(lambda: not forwarding.silent)
        assert await sent(forwarding, "later") == ANSWER
        assert counts == ForwardCounts(sent=2, failed=1)

    asyncio.run(story())


def test_who_waits_in_line_is_not_sent_where_the_primary_fell_silent_meanwhile() -> None:
    gate = threading.Event()

    def answer(_: str) -> Forwarded:
        gate.wait(30)
        raise StoreError("lost")

    async def story() -> None:
        primary = Primary(answer)
        forwarding = Forwarding(primary, SystemClock())
        all_of_them = [asyncio.create_task(sent(forwarding, "any")) for _ in range(KNOWN + 3)]
        await until(lambda: len(primary.targets) == KNOWN)
        gate.set()
        found = await asyncio.gather(*all_of_them, return_exceptions=True)
        assert [type(each) for each in found] == [StoreError] * KNOWN + [NotSent] * 3
        assert len(primary.targets) == KNOWN

    try:
        asyncio.run(story())
    finally:
        gate.set()


def test_a_question_that_takes_too_long_silences_nothing_while_the_primary_answers() -> None:
    """Whoever may ask hard questions keeps no other caller from writing."""

    async def story() -> None:
        primary = Primary(failing(StoreError("not within 3 s")))
        primary.up.set()
        forwarding = Forwarding(primary, SystemClock(), silent_s=60)
        with pytest.raises(StoreError):
            await sent(forwarding, "hard", asks=True)
        await until(lambda: not forwarding.silent)

    asyncio.run(story())


def test_a_server_that_asks_another_region_keeps_nothing_of_the_one_before() -> None:
    """It may ask another one each second, for as long as two of them answer by turns."""
    tables = RoleTables(lambda: 0, lambda _: RegionSeen(None, None), lambda _: ())

    async def story() -> None:
        for _ in range(5):
            forwarding = Forwarding(Primary(), SystemClock())
            tables.follow(Following(forwarding, lambda: 0, lambda _: True, News(), SystemClock()))
            assert await sent(forwarding, "a write") == ANSWER

    before = _threads()
    asyncio.run(story())
    gc.collect()
    eventually(lambda: len(_threads() - before) <= 1, patience_s=10)


def _threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("sigla-forwards-")}
