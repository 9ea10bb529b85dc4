"""Something done again and again."""

import threading

from sigla.web.local.heartbeat import heartbeat


def test_it_is_done_before_anybody_goes_on_and_again_until_the_end() -> None:
    """Whoever is inside finds it done; whoever has left is not bothered any more."""
    done, again = threading.Semaphore(0), threading.Semaphore(0)
    counts = [0]

    def beat() -> None:
        counts[0] += 1
        (done if counts[0] == 1 else again).release()

    with heartbeat(beat, every_s=0.001):
        assert done.acquire(blocking=False)
        assert again.acquire(timeout=60)
        assert again.acquire(timeout=60)
    assert "sigla-heartbeat" not in {thread.name for thread in threading.enumerate()}


def test_its_end_is_not_waited_for_longer_than_a_beat() -> None:
    """However seldom it is done."""
    with heartbeat(lambda: None, every_s=3600):
        """The test would not come back."""
