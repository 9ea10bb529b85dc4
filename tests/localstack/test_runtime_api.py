"""Lambda's Runtime API, as a runtime meets it: an event, an answer, and an end that no caller waits for in vain."""

import http.client
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from localstack.plugin.runtime_api import ANSWER_BYTES, PREFIX, Invocation, RuntimeApi, error
from sigla.aws.zone import Where, in_lambda


@pytest.fixture
def api() -> Iterator[RuntimeApi]:
    served = RuntimeApi()
    yield served
    served.close()


def ask(api: RuntimeApi, method: str, path: str, body: bytes | Iterator[bytes] | None = None) -> tuple[int, str, bytes]:
    """Status, the id of the request that came along, and the body. An iterator is sent in chunks."""
    connection = http.client.HTTPConnection(api.address, timeout=10)
    try:
        connection.request(method, PREFIX + path, body=body, encode_chunked=body is not None)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Lambda-Runtime-Aws-Request-Id", ""), answer.read()
    finally:
        connection.close()


def an_invocation(id: str = "1", event: bytes = b'{"path":"/"}') -> Invocation:
    return Invocation(id, event, "arn", timeout=10)


def test_an_event_is_fetched_and_answered(api: RuntimeApi) -> None:
    """The runtime that asks for the first time is ready; answers come in chunks."""
    invocation = an_invocation()
    assert not api.ready.done()
    api.submit(invocation)
    assert ask(api, "GET", "/invocation/next") == (200, "1", b'{"path":"/"}')
    assert api.ready.result(10) is None
    assert ask(api, "POST", "/invocation/1/response", iter([b'{"status', b'Code":200}']))[0] == 202
    answer = invocation.answer.result(10)
    assert (answer.body, answer.failed) == (b'{"statusCode":200}', False)


def test_an_error_is_told_as_one(api: RuntimeApi) -> None:
    """The function raised."""
    invocation = an_invocation()
    api.submit(invocation)
    ask(api, "GET", "/invocation/next")
    ask(api, "POST", "/invocation/1/error", b'{"errorType":"ValueError"}')
    assert invocation.answer.result(10).failed


def test_an_answer_to_another_request_is_refused(api: RuntimeApi) -> None:
    """A runtime that was given up may answer late; its answer goes nowhere."""
    invocation = an_invocation("2")
    api.submit(invocation)
    ask(api, "GET", "/invocation/next")
    assert ask(api, "POST", "/invocation/1/response", b"{}")[0] == 400
    assert not invocation.answer.done()


def test_an_answer_that_lambda_would_not_take_is_an_error(api: RuntimeApi) -> None:
    """The registry's own limit is below; this one says so if it ever is not."""
    invocation = an_invocation()
    api.submit(invocation)
    ask(api, "GET", "/invocation/next")
    assert ask(api, "POST", "/invocation/1/response", b"x" * (ANSWER_BYTES + 1))[0] == 413
    assert json.loads(invocation.answer.result(10).body)["errorType"] == "Function.ResponseSizeTooLarge"


def test_a_function_that_cannot_begin_says_why(api: RuntimeApi) -> None:
    """An import that fails, most of the time."""
    assert ask(api, "POST", "/init/error", b'{"errorType":"ImportError"}')[0] == 202
    failure = api.ready.result(10)
    assert failure is not None
    assert json.loads(failure.body) == {"errorType": "ImportError"}


def test_a_process_that_ends_answers_what_it_was_asked(api: RuntimeApi) -> None:
    """Whoever waits for it learns that it is gone, at once; and so does whoever waited for its start."""
    invocation = an_invocation()
    api.submit(invocation)
    ask(api, "GET", "/invocation/next")
    assert api.settle(error("Runtime.ExitError", "exit status 3"))
    assert json.loads(invocation.answer.result(10).body)["errorType"] == "Runtime.ExitError"
    early = RuntimeApi()
    early.settle(error("Runtime.ExitError", "exit status 1"))
    failure = early.ready.result(10)
    assert failure is not None
    assert failure.failed
    early.close()


def test_a_closed_api_keeps_nobody_waiting() -> None:
    """A runtime that asks for its next event is sent away, so that it ends."""
    api = RuntimeApi()
    asked = threading.Event()
    fetch = api.next

    def noticed() -> Invocation | None:
        asked.set()
        return fetch()

    api.next = noticed  # type: ignore[method-assign]  # to know when it waits, without sleeping
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, api, "GET", "/invocation/next")
        assert asked.wait(10)
        api.close()
        assert waiting.result(10)[0] == 410


def test_an_environment_learns_in_which_zone_it_runs() -> None:
    """The registry's own question finds an answer, with the token that it was given and with no other."""
    api = RuntimeApi("use1-az1")
    assert in_lambda(api.environment) == Where(id="use1-az1")
    assert in_lambda({**api.environment, "AWS_LAMBDA_METADATA_TOKEN": "guessed"}) == Where()
    api.close()


def test_an_environment_without_a_network_is_in_no_zone(api: RuntimeApi) -> None:
    """Nothing tells it where to ask."""
    assert in_lambda(api.environment) is None
    assert api.environment == {"AWS_LAMBDA_RUNTIME_API": api.address}
