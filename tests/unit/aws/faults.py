"""What can go wrong between a client and AWS, put there by a plan."""

import threading
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, NamedTuple

from botocore.awsrequest import AWSResponse
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError


class Fault(Enum):
    """Each as it looks when the SDK's own retries are used up.

    UNREACHED: nothing was done, and that is known. SILENT: nothing was done; LOST: it was done; the caller cannot tell
    one from the other. FAULTY: AWS says that it failed. THROTTLED: refused for today. UNDECIDED: refused, because
    another writer is at work. KILLED, KILLED_AFTER: the process ends before the call, or after it and before it hears
    of it.
    """

    UNREACHED = auto()
    SILENT = auto()
    LOST = auto()
    FAULTY = auto()
    THROTTLED = auto()
    UNDECIDED = auto()
    KILLED = auto()
    KILLED_AFTER = auto()


class Killed(BaseException):
    """The end of the process: nothing that handles failures sees it."""


class Call(NamedTuple):
    """number: from 0, in the order in which calls begin. path: of the URL; for S3 the bucket and the object's name."""

    number: int
    operation: str
    path: str


Plan = Callable[[Call], Fault | None]

CODES = {
    Fault.FAULTY: {
        "s3": (500, "InternalError"),
        "dynamodb": (500, "InternalServerError"),
        "events": (500, "InternalException"),
        "ssm": (500, "InternalServerError"),
    },
    Fault.THROTTLED: {
        "s3": (503, "SlowDown"),
        "dynamodb": (400, "ProvisionedThroughputExceededException"),
        "events": (400, "ThrottlingException"),
        "ssm": (400, "ThrottlingException"),
    },
    Fault.UNDECIDED: {
        "s3": (409, "ConditionalRequestConflict"),
        "dynamodb": (400, "TransactionConflictException"),
        "events": (400, "ConcurrentModificationException"),
        "ssm": (400, "TooManyUpdates"),
    },
}
AFTER = {Fault.LOST, Fault.KILLED_AFTER}


def no_fault(_: Call) -> Fault | None:
    return None


def once(wanted: Callable[[Call], bool], fault: Fault) -> Plan:
    """The first call that is meant."""
    struck = threading.Lock()
    return lambda call: fault if wanted(call) and struck.acquire(blocking=False) else None


class Faults:
    """Watches one client and lets its calls fail as planned; without a plan it only keeps what was called."""

    def __init__(self, client: Any, plan: Plan = no_fault) -> None:
        self.plan = plan
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        client.meta.events.register("before-call", self._before)
        client.meta.events.register("after-call", self._after)

    def _before(self, model: Any, params: Any, context: dict[str, Any], **_: Any) -> Any:
        with self._lock:
            call = Call(len(self.calls), model.name, params["url_path"])
            self.calls.append(call)
        fault = self.plan(call)
        if fault in AFTER:
            context["fault"] = fault
        elif fault in CODES:
            status, code = CODES[fault][model.service_model.service_name]
            return AWSResponse("", status, {}, None), refusal(status, code)
        elif fault is not None:
            raise failure(fault)
        return None

    def _after(self, context: dict[str, Any], **_: Any) -> None:
        if fault := context.pop("fault", None):
            raise failure(fault)


def refusal(status: int, code: str) -> dict[str, Any]:
    """An error as a client reads it from AWS's answer."""
    return {"Error": {"Code": code, "Message": "planned"}, "ResponseMetadata": {"HTTPStatusCode": status}}


def failure(fault: Fault) -> BaseException:
    """What the caller meets where AWS does not answer."""
    if fault in {Fault.KILLED, Fault.KILLED_AFTER}:
        return Killed()
    kind = EndpointConnectionError if fault is Fault.UNREACHED else ReadTimeoutError
    error: BaseException = kind(endpoint_url="planned")
    return error
