"""A follower whose primary was silent, and answers again."""

import threading

from sigla.errors import StoreError
from sigla.ports.primary import NextAsked
from sigla.regions.follower import WAIT_MS
from tests.unit.regions.test_following import pair


def test_an_answer_is_asked_for_at_once() -> None:
    """What stands in `sigla regions` and in the metrics would be that silence, as long as there is nothing to tell."""
    with pair() as each:
        waits, enough = list[int](), threading.Event()

        def link(said: NextAsked) -> None:
            waits.append(said.wait_ms)
            if len(waits) == 2:
                raise StoreError("silent")
            if len(waits) == 4:
                enough.set()

        each.link = link
        follower = each.follower()
        follower.start()
        assert enough.wait(30)
        follower.stop(5)
        assert waits[:4] == [0, WAIT_MS, 0, WAIT_MS]
