"""A warm `GET /schemas/ids/{id}` through the Lambda handler, as a REST API and as a function URL hand it over.

Beside it stands bare Mangum with a bare Starlette application that returns a constant of the same size; both handle
the same event in one process, in turns. Once without log and metrics, and once with both: the line of each request,
which is the metric too, goes to a file; on Lambda the runtime takes it.

It may mislead: stores and memory are those of one machine; a warm answer asks them the same questions as on AWS, but an
id whose holders have not been asked for within a minute costs a query there.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mangum import Mangum

from benchmarks import filled
from benchmarks.bare import MEDIA, starlette
from benchmarks.harness import Goal, Line, Lines, best_of, main, per_call
from sigla import __version__, observe, wiring
from sigla.embedded.clock import SystemClock
from sigla.model import Draft
from sigla.settings import Settings
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
REST = {
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
FUNCTION_URL = {
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
EVENTS: Mapping[str, Event] = {"REST API": REST, "function URL": FUNCTION_URL}


def lines(*, quick: bool = False) -> Lines:
    rounds, calls = (2, 20) if quick else (30, 500)
    with filled.workspace() as path, (path / "log").open("w") as log, redirect_stdout(log):
        figures = list(_figures(path / "data", rounds, calls))
    for door, (off, on, least) in zip(EVENTS, figures, strict=True):
        what = f"warm GET by id, {door}, log and metrics"
        yield Line(f"{what} off", off, "s", least, "bare Mangum + Starlette", Goal(1.5))
        yield Line(f"{what} on", on, "s", least, "bare Mangum + Starlette", Goal(2.5))


def _figures(data: Path, rounds: int, calls: int) -> Iterator[list[float]]:
    """For each event: seconds without log and metrics, with both, and bare."""
    with wiring.embedded(Settings(), data) as (registry, _):
        registry.register(filled.subject(1), Draft(filled.text(1)))
        silent = gateway.handler(registry)
        log = observe.Log(release=__version__, metrics=observe.Metrics("Sigla", SystemClock()))
        telling = gateway.handler(registry, options=replace(gateway.OPTIONS, watchers=(log,)))
        for event in EVENTS.values():
            bare = Mangum(starlette(len(_answer(silent, event)["body"])), lifespan="off", text_mime_types=[MEDIA])
            works = [per_call(partial(_answer, asked, event), calls) for asked in (silent, telling, bare)]
            yield best_of(rounds, *works)


def _answer(handler: Handler, event: Event) -> dict[str, Any]:
    answer = handler(event, None)
    if answer["statusCode"] != 200:
        raise RuntimeError(answer["body"])
    return answer


if __name__ == "__main__":
    main(lines, __doc__)
