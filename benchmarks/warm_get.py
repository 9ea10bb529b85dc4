"""A warm `GET /schemas/ids/{id}` through the Lambda handler, as a REST API and as a function URL hand it over.

Beside it stands bare Mangum with a bare Starlette application that returns a constant of the same size; both handle
the same event in one process, in turns. Once without log and metrics; once with both as they are deployed, where each
request is a line of metrics, and one of a hundred such reads a line of the log; and once with a line for each. They are
written to nowhere; on Lambda the runtime takes them.

It may mislead: stores and memory are those of one machine; a warm answer asks them the same questions as on AWS, but an
id whose holders have not been asked for within a minute costs a query there.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mangum import Mangum

from benchmarks import filled
from benchmarks.bare import MEDIA, starlette
from benchmarks.harness import Goal, Line, Lines, best_of, main, per_call
from sigla import __version__, opening
from sigla.aws.clients import Calls
from sigla.functions.telemetry import RequestLog, RequestMetrics
from sigla.model import Draft
from sigla.registry import Registry
from sigla.settings import Settings
from sigla.stores.clock import SystemClock
from sigla.web import gateway

Event = dict[str, Any]
Handler = Callable[[Any, Any], dict[str, Any]]

PATH = "/schemas/ids/1"
HEADERS = {
    "accept": MEDIA,
    "accept-encoding": "gzip, deflate",
    "host": "abcdefghij.execute-api.eu-central-1.amazonaws.com",
    "user-agent": "Java/21.0.4",
    "x-amzn-trace-id": "Root=1-65f0c1a2-0123456789abcdef01234567",
    "x-forwarded-for": "203.0.113.7",
    "x-forwarded-port": "443",
    "x-forwarded-proto": "https",
}
REST: Event = {
    "resource": "/{proxy+}",
    "path": PATH,
    "httpMethod": "GET",
    "headers": HEADERS,
    "multiValueHeaders": {name: [value] for name, value in HEADERS.items()},
    "queryStringParameters": None,
    "multiValueQueryStringParameters": None,
    "pathParameters": {"proxy": PATH[1:]},
    "stageVariables": None,
    "requestContext": {
        "resourcePath": "/{proxy+}",
        "httpMethod": "GET",
        "path": "/v1" + PATH,
        "protocol": "HTTP/1.1",
        "stage": "v1",
        "identity": {"sourceIp": "203.0.113.7", "userAgent": "Java/21.0.4"},
    },
    "body": None,
    "isBase64Encoded": False,
}
FUNCTION_URL: Event = {
    "version": "2.0",
    "routeKey": "$default",
    "rawPath": PATH,
    "rawQueryString": "",
    "headers": HEADERS,
    "requestContext": {
        "domainName": "abcdefghij.lambda-url.eu-central-1.on.aws",
        "http": {
            "method": "GET",
            "path": PATH,
            "protocol": "HTTP/1.1",
            "sourceIp": "203.0.113.7",
            "userAgent": "Java/21.0.4",
        },
        "routeKey": "$default",
        "stage": "$default",
    },
    "isBase64Encoded": False,
}
CONTEXT = SimpleNamespace(aws_request_id="8f5d3c1e-0b1a-4c53-9f1d-3a9c8b7d6e5f")
EVENTS: Mapping[str, Event] = {"REST API": REST, "function URL": FUNCTION_URL}


def lines(*, quick: bool = False) -> Lines:
    rounds, calls = (2, 20) if quick else (30, 500)
    with filled.workspace() as path, Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        figures = list(_figures(path / "data", rounds, calls))
    for door, (off, on, every, least) in zip(EVENTS, figures, strict=True):
        what = f"warm GET by id, {door}"
        yield Line(f"{what}, log and metrics off", off, "s", least, "bare Mangum + Starlette", Goal(1.5))
        yield Line(f"{what}, log and metrics on", on, "s", least, "bare Mangum + Starlette", Goal(2.5))
        yield Line(f"{what}, metrics and every line", every, "s", least, "bare Mangum + Starlette")


def _figures(data: Path, rounds: int, calls: int) -> Iterator[list[float]]:
    """For each event: seconds without log and metrics, with both, with every line of the log, and bare."""
    with opening.embedded(Settings(), data) as (registry, _):
        registry.register(filled.subject(1), Draft(filled.text(1)))
        silent = gateway.handler(registry)
        telling = [_telling(registry, reads) for reads in (Settings().log_reads, 1.0)]
        for event in EVENTS.values():
            bare = Mangum(starlette(len(_answer(silent, event)["body"])), lifespan="off", text_mime_types=[MEDIA])
            handlers: list[Handler] = [silent, *telling, bare]
            yield best_of(rounds, *(per_call(partial(_answer, asked, event), calls) for asked in handlers))


def _telling(registry: Registry, reads: float) -> Handler:
    """As `wiring` makes it. reads: the share of reads by id whose line is written."""
    calls, clock = Calls(), SystemClock()
    log = RequestLog("sigla-default", calls, clock, release=__version__, reads=reads)
    watchers = (RequestMetrics("sigla-default", calls, clock), log)
    return log.following(gateway.handler(registry, options=replace(gateway.OPTIONS, watchers=watchers)))


def _answer(handler: Handler, event: Event) -> dict[str, Any]:
    answer = handler(event, CONTEXT)
    if answer["statusCode"] != 200:
        raise RuntimeError(answer["body"])
    return answer


if __name__ == "__main__":
    main(lines, __doc__)
