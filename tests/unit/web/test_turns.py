"""Clients take turns in a queue, threads in computing."""

import threading

from sigla.web.threads.turns import Baton, FairQueue


def test_clients_take_turns_however_much_one_of_them_asks() -> None:
    """A client with a thousand requests must not keep one with a single request waiting for all of them."""
    queue: FairQueue[int] = FairQueue()
    for number in range(4):
        queue.put("greedy", number)
    queue.put("modest", 10)
    assert [queue.take() for _ in range(6)] == [0, 10, 1, 2, 3, None]


def test_a_client_whose_turn_it_may_not_be_is_passed_over() -> None:
    """It keeps its place, and the others go on."""
    queue: FairQueue[int] = FairQueue()
    queue.put("one", 1)
    queue.put("other", 2)
    assert queue.take(lambda client: client != "one") == 2
    assert queue.take(lambda client: client != "one") is None
    assert (len(queue), queue.of("one"), queue.take()) == (1, 1, 1)


def test_what_nobody_waits_for_is_taken_out() -> None:
    """It would keep its body in memory."""
    queue: FairQueue[int] = FairQueue()
    queue.put("one", 1)
    assert queue.remove("one", 1)
    assert not queue.remove("one", 1)
    assert (len(queue), queue.take(), [*queue]) == (0, None, [])


def test_one_thread_computes_at_a_time_and_each_comes_to_its_end() -> None:
    """With one that computes, threads that only answer wait for one at most."""
    baton, inside, most = Baton(), [0], [0]

    def compute() -> None:
        with baton:
            for _ in range(200):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1
                baton.pass_on()

    threads = [threading.Thread(target=compute) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_a_thread_that_has_had_its_share_lets_another_compute() -> None:
    """A long check must not keep a short one waiting to its end."""
    baton, other = Baton(), threading.Event()

    def short() -> None:
        with baton:
            other.set()

    with baton:
        thread = threading.Thread(target=short)
        thread.start()
        while not other.is_set():
            baton.pass_on()
    thread.join()
