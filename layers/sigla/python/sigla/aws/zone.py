"""In which availability zone this process runs, asked of whoever can know it.

    setting    whatever it says
    Lambda     the metadata endpoint of the environment          the zone's id
    ECS        the metadata endpoint of the task                 the zone's name
    EC2        the instance metadata service, version 2          both

An id (use1-az1) is the same zone in every account; a name (us-east-1a) is this account's own word, which in older
Regions means another zone in another account.

Client machines run this, so that it needs nothing but the standard library. Time-outs are short: where such an endpoint
is, it answers in milliseconds.

Sources: AWS Lambda Developer Guide, "Using the Lambda metadata endpoint"; Amazon ECS Developer Guide, "Task metadata
endpoint version 4"; Amazon EC2 User Guide, "Use the Instance Metadata Service"; AWS SDKs and Tools Reference Guide,
"IMDS client".
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

PATIENCE_S = 0.5
"""For a connection, and for each piece of an answer; where there is no such service, this is what it costs."""
LONGEST = 64 * 2**10
"""Bytes of an answer that are read."""
TOKEN_LASTS_S = 60

EC2_ENDPOINTS: Mapping[str, str] = {"ipv4": "http://169.254.169.254", "ipv6": "http://[fd00:ec2::254]"}
"""By AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE."""

_ZONE = re.compile(r"[a-z0-9]+(-[a-z0-9]+){1,8}")

Environ = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Where:
    """A zone by its id, its name, or both; what is not known is empty. told_by: who knew it."""

    id: str = ""
    name: str = ""
    told_by: str = ""

    @property
    def known_as(self) -> str:
        """The id if it is known, or else the name. No id is the name of another zone."""
        return self.id or self.name


def located(given: str, environ: Environ) -> Where | None:
    """Where this process runs; None if that is unknown.

    given: an id or a name that an operator has set; it is believed.
    """
    if given:
        return Where(given, told_by="setting")
    for told_by, ask in SOURCES.items():
        where = ask(environ)
        if where is not None and where.known_as:
            return replace(where, told_by=told_by)
    return None


def in_lambda(environ: Environ) -> Where | None:
    host, token = environ.get("AWS_LAMBDA_METADATA_API", ""), environ.get("AWS_LAMBDA_METADATA_TOKEN", "")
    if not host:
        return None
    url = f"http://{host}/2026-01-15/metadata/execution-environment"
    return Where(id=_member(_answer("GET", url, Authorization=f"Bearer {token}"), "AvailabilityZoneID"))


def in_ecs(environ: Environ) -> Where | None:
    endpoint = environ.get("ECS_CONTAINER_METADATA_URI_V4", "")
    return Where(name=_member(_answer("GET", f"{endpoint}/task"), "AvailabilityZone")) if endpoint else None


def on_ec2(environ: Environ) -> Where | None:
    """Instances that are older than zone ids, or hide them, tell the name alone."""
    if environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return None
    mode = environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "").lower() or "ipv4"
    endpoint = environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "") or EC2_ENDPOINTS.get(mode, "")
    base = f"{endpoint.rstrip('/')}/latest"
    lasts = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_LASTS_S)}
    token = _answer("PUT", f"{base}/api/token", **lasts)
    if not token:
        return None
    shown = {"X-aws-ec2-metadata-token": token}
    placement = f"{base}/meta-data/placement"
    return Where(
        _zone(_answer("GET", f"{placement}/availability-zone-id", **shown)),
        _zone(_answer("GET", f"{placement}/availability-zone", **shown)),
    )


SOURCES: Mapping[str, Callable[[Environ], Where | None]] = {"Lambda": in_lambda, "ECS": in_ecs, "EC2": on_ec2}
"""In this order: the first two are known by the environment, the third has to be tried."""


def _answer(method: str, url: str, **headers: str) -> str:
    """The body of a good answer; empty for every other, and for none."""
    try:
        target = urlsplit(url)
        if target.scheme != "http" or not target.hostname:
            return ""
        with closing(HTTPConnection(target.hostname, target.port, timeout=PATIENCE_S)) as connection:
            connection.request(method, target.path, headers=headers)
            answer = connection.getresponse()
            return answer.read(LONGEST).decode() if answer.status == 200 else ""
    except (OSError, HTTPException, ValueError):
        return ""


def _member(text: str, name: str) -> str:
    """A zone, of a JSON object."""
    try:
        told = json.loads(text)
    except ValueError:
        return ""
    return _zone(told.get(name)) if isinstance(told, dict) else ""


def _zone(told: object) -> str:
    """What can be a zone's id or name, and not the page of a server that answers every request."""
    return told if isinstance(told, str) and _ZONE.fullmatch(told) else ""
