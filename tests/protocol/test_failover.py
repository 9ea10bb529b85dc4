"""A list of URLs, the first of which ends in the middle of everything: no request fails, with the real clients.

docs/zones.md tells what each client does, and how to set it; what it says of these two is what happens here.
"""

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError

from tests import npm
from tests.protocol.clients.server import Server, environment, serving
from tests.protocol.clients.shop import ORDER, another, avro
from tests.protocol.clients.test_javascript_client import NODE
from tests.protocol.doors import Door, Mood, doors
from tests.waiting import PATIENCE_S, eventually

ROOT = Path(__file__).parent.parent.parent
FIRST, SECOND, THIRD = range(3)

SHORT_S = 2
"""A time-out that a test can wait for, and that only what hangs exceeds."""
ADVISED = {"max.retries": 0, "timeout": PATIENCE_S}
"""As docs/zones.md advises, but for the time-out."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def zones(server: Server) -> Iterator[list[Door]]:
    """Three endpoints of one registry."""
    with doors(server) as opened:
        yield opened


def listed(zones: list[Door]) -> str:
    return ",".join(door.url for door in zones)


@pytest.fixture
def client(zones: list[Door]) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": listed(zones), **ADVISED}) as made:
        yield made


def seen(zones: list[Door]) -> list[int]:
    """Requests by endpoint, since one last looked."""
    return [door.seen() for door in zones]


def a_schema(name: str) -> Schema:
    return avro({"type": "record", "name": name, "fields": []})


# --- Python ----------------------------------------------------------------------------------------------------------


def test_python_asks_the_first_as_long_as_it_answers(zones: list[Door], client: SchemaRegistryClient) -> None:
    """The own zone stands there: no other zone is asked."""
    for _ in range(5):
        client.get_subjects()
    assert seen(zones) == [5, 0, 0]


def test_python_goes_on_when_the_first_is_killed_in_the_middle(
    zones: list[Door], client: SchemaRegistryClient, server: Server
) -> None:
    """Four at work, reading and registering; the endpoint ends under them, and every client gets what it asked for."""
    ids: list[int] = []
    failures: list[BaseException] = []
    begun, over = threading.Barrier(5), threading.Event()

    def work(worker: int) -> None:
        begun.wait()
        number = 0
        try:
            while not over.is_set() or number < 10:
                ids.append(client.register_schema(f"shop-{worker}-{number}", a_schema(f"Order{worker}{number}")))
                assert client.get_versions(f"shop-{worker}-{number}") == [1]
                number += 1
        except BaseException as failure:  # noqa: BLE001 - whatever a client of ours would have met
            failures.append(failure)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    begun.wait()
    eventually(lambda: zones[FIRST].asked >= 20)
    zones[FIRST].kill()
    before = zones[SECOND].asked
    eventually(lambda: zones[SECOND].asked >= before + 20 or failures)
    over.set()
    for worker in workers:
        worker.join()
    assert not failures
    assert len(ids) == len(set(ids)) >= 40
    with another(server) as somebody:
        assert {len(somebody.get_versions(f"shop-{worker}-0")) for worker in range(4)} == {1}
    assert zones[THIRD].asked == 0, "the second is good enough"


def test_a_registration_that_got_no_answer_is_the_same_registration(
    zones: list[Door], client: SchemaRegistryClient, server: Server
) -> None:
    """The first endpoint has registered it, and dies before it can say so: the second one tells the same id."""
    zones[FIRST].mood = Mood.DYING
    registered = client.register_schema("unanswered-value", avro(ORDER))
    assert seen(zones) == [1, 1, 0]
    with another(server) as somebody:
        assert somebody.get_versions("unanswered-value") == [1]
        assert somebody.get_latest_version("unanswered-value").schema_id == registered


def test_python_passes_by_what_hangs_and_what_fails(zones: list[Door]) -> None:
    """A hung one costs the time-out, each time anew; one that answers 5xx costs a request."""
    zones[FIRST].mood, zones[SECOND].mood = Mood.HUNG, Mood.FAILING
    with SchemaRegistryClient({"url": listed(zones), **ADVISED, "timeout": SHORT_S}) as client:
        for _ in range(2):
            client.get_subjects()
    assert seen(zones) == [2, 2, 2]


def test_python_comes_back_to_the_first_at_once(zones: list[Door], client: SchemaRegistryClient) -> None:
    """It remembers nothing of what failed: every request begins at the head of the list."""
    zones[FIRST].mood = Mood.FAILING
    client.get_subjects()
    zones[FIRST].mood = Mood.WELL
    client.get_subjects()
    assert seen(zones) == [2, 1, 0]


def test_a_refusal_is_an_answer(zones: list[Door], client: SchemaRegistryClient) -> None:
    """Python takes it from the first; to ask another endpoint of the same registry would not help."""
    with pytest.raises(SchemaRegistryError) as refused:
        client.get_versions("nobody-value")
    assert refused.value.error_code == 40401
    assert seen(zones) == [1, 0, 0]


def test_without_advice_python_waits_for_ever_and_tries_four_times(zones: list[Door]) -> None:
    """Why docs/zones.md advises: these are the client's own defaults."""
    with SchemaRegistryClient({"url": listed(zones)}) as client:
        rest = client._rest_client
        assert (rest.timeout, rest.max_retries, rest.retries_wait_ms) == (None, 3, 1000)


# --- JavaScript ------------------------------------------------------------------------------------------------------

LOOP = """
'use strict';
const [entry, urls, timeout] = process.argv.slice(1);
const { SchemaRegistryClient } = require(entry);
const client = new SchemaRegistryClient({
  baseURLs: urls.split(','), maxRetries: 0, createAxiosDefaults: { timeout: Number(timeout) },
});
const tell = (facts) => process.stdout.write(JSON.stringify(facts) + '\\n');
const schema = JSON.stringify({ type: 'record', name: 'Order', fields: [] });
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const [verb, subject] = line.split(' ');
  try {
    if (verb === 'register') await client.register(subject, { schemaType: 'AVRO', schema });
    tell({ versions: await client.getAllVersions(subject) });
  } catch (error) {
    tell({ refused: error.errorCode, failed: String(error) });
  }
});
"""

Script = Callable[[str, str], dict[str, Any]]
"""From a verb and a subject to what came of it."""


@pytest.fixture
def javascript(zones: list[Door], request: pytest.FixtureRequest) -> Iterator[Script]:
    """One client that stays. `register` is two requests: it reads the versions of the subject, too; `read` is one.

    Its parameter is the time-out in seconds, where a test has one.
    """
    timeout_s = getattr(request, "param", PATIENCE_S)
    node, folder = npm.node_program(), npm.installed(NODE)
    entry = folder / "node_modules" / "@confluentinc" / "schemaregistry"
    process = subprocess.Popen(
        [node, "-e", LOOP, str(entry), listed(zones), str(int(1000 * timeout_s))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        encoding="utf-8",
    )
    assert process.stdin
    assert process.stdout
    writing, reading = process.stdin, process.stdout

    def does(verb: str, subject: str) -> dict[str, Any]:
        writing.write(f"{verb} {subject}\n")
        writing.flush()
        told: dict[str, Any] = json.loads(reading.readline())
        return told

    yield does
    writing.close()
    process.wait()
    reading.close()


def test_javascript_goes_on_when_the_first_is_killed(zones: list[Door], javascript: Script) -> None:
    """As Python does: each request begins at the head of the list."""
    for number in range(4):
        assert javascript("register", f"script-{number}") == {"versions": [1]}
    assert seen(zones) == [8, 0, 0]
    zones[FIRST].mood = Mood.DYING
    for number in range(4, 8):
        assert javascript("register", f"script-{number}") == {"versions": [1]}
    assert seen(zones) == [1, 8, 0]


@pytest.mark.parametrize("javascript", [SHORT_S], indirect=True)
def test_javascript_passes_by_what_hangs_and_what_fails(zones: list[Door], javascript: Script) -> None:
    zones[FIRST].mood, zones[SECOND].mood = Mood.HUNG, Mood.FAILING
    assert javascript("register", "script-hung") == {"versions": [1]}
    assert seen(zones) == [2, 2, 2]


def test_javascript_asks_everybody_before_it_believes_a_refusal(zones: list[Door], javascript: Script) -> None:
    """Unlike Python; all of them say the same."""
    assert javascript("read", "nobody")["refused"] == 40401
    assert seen(zones) == [1, 1, 1]


# --- what the page says ----------------------------------------------------------------------------------------------


def test_the_page_advises_what_is_tested_here() -> None:
    """The settings by their names, in the program that the page shows."""
    page = (ROOT / "docs" / "zones.md").read_text(encoding="utf-8")
    shown = "".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert all(f'"{name}"' in shown for name in ADVISED)
