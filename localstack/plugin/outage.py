"""Regions that are lost, and come back: of one that is lost nothing answers but 503, from anywhere.

    PUT /_sigla/lost/REGION         it is lost from now on
    DELETE /_sigla/lost/REGION      it is back, with what it held

Both answer which regions are lost.

That goes for calls of AWS, also of functions and of its own clock, and for function URLs. A function that is at work is
cut off by its next call into the region.
"""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from localstack.aws.handlers import preprocess_request
from localstack.services.edge import ROUTER

from .doors import made

PATH = "/_sigla/lost/<region>"

_lost: set[str] = set()


def refuse(chain: Any, context: Any, _: object) -> None:
    """Sees every request before anything else does."""
    if _lost and not _lost.isdisjoint(regions_of(context.request)):
        chain.respond(HTTPStatus.SERVICE_UNAVAILABLE, {"message": "The region is lost."})


def regions_of(request: Any) -> Iterator[str]:
    """The one that it is signed for, and that of the function URL that it goes to."""
    # AWS4-HMAC-SHA256 Credential=KEY/DAY/REGION/SERVICE/aws4_request, …
    if signed := re.search(r"Credential=[^/]+/[^/]+/([^/]+)/", request.headers.get("Authorization", "")):
        yield signed[1]
    for region, url in made():
        if url.url == request.host_url:
            yield region


def lose(_: object, region: str) -> list[str]:
    _lost.add(region)
    return sorted(_lost)


def bring_back(_: object, region: str) -> list[str]:
    _lost.discard(region)
    return sorted(_lost)


def install() -> None:
    """Looks at every request from now on."""
    preprocess_request.append(refuse)
    ROUTER.add(PATH, lose, methods=["PUT"])
    ROUTER.add(PATH, bring_back, methods=["DELETE"])
