"""How we speak to AWS: few tries, short waits, connections kept, every call counted.

The clients are botocore's own, which boto3 only wraps: made this way they cost a function 20 ms less at its start.
Credentials, region and `AWS_ENDPOINT_URL` are found by botocore, as every tool of AWS finds them.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any
from weakref import WeakSet

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from botocore.handlers import add_expect_header
from botocore.loaders import create_loader

from sigla.aws.refusals import must_be_of_aws
from sigla.bounded import BoundedMemory
from sigla.settings import InvalidSetting

CONNECTIONS = 32
"""Kept open per service; more than any adapter has threads."""

KEY_CLIENTS = 32
"""Clients of KMS that are kept: one for each region, and for each credential that is not the session's."""

# A call that AWS never answers is given up after 3 x (1 + 3) s and at most 3 s of pauses, within the 20 s that a write
# may take (SIGLA_RETRYING_SECONDS) and the 29 s that API Gateway waits. Answers come within 5 to 50 ms.
CONFIG = Config(
    connect_timeout=1,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=CONNECTIONS,
    tcp_keepalive=True,
    # TLS guards what is under way. The default adds a checksum as a trailer, which not every store understands, and
    # reads each object twice.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
    # Botocore validates each parameter against its model; ours are made here, and tests meet the engines themselves.
    parameter_validation=False,
)

# Callers of the table try again by themselves, with pauses (`table`). With three tries of the client for each of theirs
# a table that is too busy would be asked 24 times, and the refusal would come after 15 s.
TABLE = CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))

# A KEK may name further keys, for the day on which its own does not answer. The last one is begun within the 20 s that
# a request may wait, and given up 9 s later: within the 29 s of API Gateway.
KEYS = CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 2}))

# A function that starts, in a zone all of whose caches are gone, answers within a few seconds. Two tries, so that a
# zone does not count as dead for one lost connection; both end before the heartbeat's own 30 s do.
PROBING = CONFIG.merge(Config(read_timeout=10, retries={"mode": "standard", "total_max_attempts": 2}))


REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables of the region, in the order in which AWS's command line and CDK ask them: botocore knows the last alone."""

THROTTLED, LOST = "Throttles", "LostRaces"
"""What may become of a try: AWS found it too fast; DynamoDB cancelled it, because others wrote the same rows."""

_TROUBLES: Mapping[str, str] = {
    "ConditionalCheckFailed": LOST,
    "ProvisionedThroughputExceeded": THROTTLED,
    "ProvisionedThroughputExceededException": THROTTLED,
    "RequestLimitExceeded": THROTTLED,
    "SlowDown": THROTTLED,
    "ThrottlingError": THROTTLED,
    "ThrottlingException": THROTTLED,
    "TransactionConflict": LOST,
    "TransactionConflictException": LOST,
}
"""By the code of an error, or of a reason why a transaction was cancelled."""


class Calls:
    """How often each operation was called; a call that the SDK tried three times is one.

    count: all together, but for those made `aside`. troubles: as in {"Throttles": 1}, of every try. Both since the
    beginning, and only to be read.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._here = threading.local()
        self._counted: Counter[str] = Counter()
        self.count = 0
        self.troubles: Counter[str] = Counter()

    def __call__(self, model: Any, **_: object) -> None:
        """A handler of botocore's event `before-call`."""
        with self._lock:
            self._counted[model.name] += 1
            self.count += not getattr(self._here, "aside", False)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What this thread calls meanwhile belongs to no request: none waits for it."""
        self._here.aside = True
        try:
            yield
        finally:
            self._here.aside = False

    def tried(self, response: tuple[object, Mapping[str, Any]] | None, **_: object) -> None:
        """A handler of botocore's event `needs-retry`. response: None where none came."""
        found = set(_troubles(response[1])) if response else ()
        if found:
            with self._lock:
                self.troubles.update(found)

    def read(self) -> Counter[str]:
        """As in {"GetObject": 3}, since the beginning; subtract an earlier reading for what was between."""
        with self._lock:
            return self._counted.copy()


def _troubles(answer: Mapping[str, Any]) -> Iterator[str]:
    codes = [answer.get("Error", {}).get("Code")]
    codes += [reason.get("Code") for reason in answer.get("CancellationReasons", ())]
    yield from (_TROUBLES[code] for code in codes if code in _TROUBLES)
    # A batch of which something is left was too fast: ours are below its limits of size.
    if answer.get("UnprocessedKeys") or answer.get("UnprocessedItems"):
        yield THROTTLED


def _without_tries(parsed: Mapping[str, Any], **_: object) -> None:
    """Keeps botocore from adding "reached max retries: 0" to what DynamoDB says: it was asked again, by others."""
    parsed.get("ResponseMetadata", {}).pop("MaxAttemptsReached", None)


@cache
def _descriptions() -> Any:
    """What botocore reads of its own files about services: a process needs it once, however often it makes clients."""
    return create_loader()


class Clients:
    """One session's clients, each made when it is first wanted and then shared by all threads.

    To be made anew after a snapshot is restored: credentials and connections are of the moment.
    region, endpoints: where the environment shall not decide. Raises InvalidSetting, also later, where it says too
    little: no region, a profile that is nowhere.
    """

    def __init__(
        self, *, region: str | None = None, s3_endpoint: str | None = None, dynamodb_endpoint: str | None = None
    ) -> None:
        self.calls = Calls()
        self.session = botocore.session.get_session()
        self.session.register_component("data_loader", _descriptions())
        self.session.session_var_map["region"] = ("region", [*REGIONS], None, None)
        self._region = region
        self._endpoints = {"s3": s3_endpoint, "dynamodb": dynamodb_endpoint}
        self._of_keys: BoundedMemory[tuple[str, str | None, str | None], Any] = BoundedMemory(KEY_CLIENTS)
        self._open_of_keys: WeakSet[Any] = WeakSet()
        self._making = threading.Lock()

    @property
    def region(self) -> str:
        """Where the table is, by its client."""
        return str(self.dynamodb.meta.region_name)

    @cached_property
    def s3(self) -> Any:
        client = self._client("s3")
        # It asks whether an object may come (100-continue) and waits for the answer: a trip more for every write.
        client.meta.events.unregister("before-call.s3", add_expect_header)
        client.meta.events.register("after-call", must_be_of_aws)
        return client

    @cached_property
    def dynamodb(self) -> Any:
        client = self._client("dynamodb", TABLE)
        client.meta.events.register("after-call", _without_tries)
        client.meta.events.register("after-call", must_be_of_aws)
        return client

    @cached_property
    def functions(self) -> Any:
        """Of Lambda."""
        return self._client("lambda", PROBING)

    @cached_property
    def ssm(self) -> Any:
        """The client of the parameter store."""
        client = self._client("ssm")
        client.meta.events.register("after-call", must_be_of_aws)
        return client

    @cached_property
    def events(self) -> Any:
        """Of EventBridge: its default bus, and those with rules and targets."""
        client = self._client("events")
        client.meta.events.register("after-call", must_be_of_aws)
        return client

    def kms(self, region: str, key_id: str | None = None, secret: str | None = None) -> Any:
        """The client of KMS in the region, with these credentials or with the session's: all its keys share it."""
        asked = region, key_id, secret
        found = self._of_keys.get(asked)
        if found is None:
            found = self._new_kms(region, key_id, secret)
            self._of_keys.keep(asked, found)
        self._of_keys.use(asked)
        return found

    def _new_kms(self, region: str, key_id: str | None, secret: str | None) -> Any:
        credentials = {"aws_access_key_id": key_id, "aws_secret_access_key": secret} if key_id else {}
        client = self._client("kms", KEYS, region_name=region, **credentials)
        client.meta.events.register("after-call", must_be_of_aws)
        with self._making:
            self._open_of_keys.add(client)
        return client

    def close(self) -> None:
        """Closes the connections that are open. The clients open new ones when they are used again."""
        with self._making:
            of_keys = [*self._open_of_keys]
        shared = [
            self.__dict__[name] for name in {"s3", "dynamodb", "functions", "ssm", "events"} & self.__dict__.keys()
        ]
        for client in (*shared, *of_keys):
            client.close()

    def _client(self, service: str, config: Config = CONFIG, **more: str | None) -> Any:
        """more: what differs from the session's, by botocore's names."""
        chosen = {"region_name": self._region, "endpoint_url": self._endpoints.get(service)} | more
        try:
            with self._making:  # a session of botocore makes one client at a time
                client = self.session.create_client(service, config=config, **chosen)
        except (BotoCoreError, ValueError) as problem:
            why = str(problem).rstrip(".")
            raise InvalidSetting(
                f"AWS cannot be asked ({why}): see AWS_REGION, AWS_PROFILE, AWS_ENDPOINT_URL."
            ) from problem
        client.meta.events.register("before-call", self.calls)
        client.meta.events.register("needs-retry", self.calls.tried)
        return client
