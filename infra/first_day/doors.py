"""What every door of a registry must do, whatever stands in front of it."""

import gzip
import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import quote, unquote

from infra.first_day.asking import Answer, Door, Failed, NotAsked
from infra.first_day.day import PREFIX, WITHIN, Day
from sigla.contract import REQUEST_BYTES

NAMES: Final = (
    "a%2Fb",
    "a%2F%2Fb",
    "a%252Fb",
    "a%25b",
    "a+b",
    "a%2Bb",
    "a%20b",
    "a:b",
    "a%3Ab:c",
    "a%3Fb%23c",
    "a%3Bb%5Cc",
    "a%26b%3Dc",
    "a..b.",
    "gr%C3%BC%C3%9Fe-%E2%82%AC-%F0%9F%A6%80",
)
"""As they stand in a path: what gateways and proxies decode, join, cut or tidy up."""
DOTS: Final = ("%2e%2e", "%2E")
"""Segments that are nothing but dots."""

LIMIT: Final = REQUEST_BYTES
"""Bytes of a request's body (LIM-1)."""
TOO_LARGE_FOR_LAMBDA: Final = 7_000_000
"""It hands on six megabytes: the door itself has to refuse more."""
FIRST_WAVE: Final = 32
"""Requests at once; each further wave has twice as many."""
CROWD: Final = 256
"""Connections at most."""


def names_arrive(day: Day, door: Door) -> str:
    """Registered, listed by a query, and read again: each name is what was sent."""
    schema = day.schema("names")
    wrong = [problem for name in NAMES if (problem := _name_arrives(day, door, name, schema))]
    wrong += [problem for dots in DOTS if (problem := _dots_arrive(day, door, dots, schema))]
    if wrong:
        raise Failed("; ".join(wrong))
    return f"{len(NAMES) + len(DOTS)} names"


def _name_arrives(day: Day, door: Door, name: str, schema: dict[str, str]) -> str:
    """What is wrong, or nothing."""
    path = f"{door.name}-{name}"
    meant = unquote(day.subject(path))
    registered = day.register(door, path, schema)
    if registered.status != 200:
        return f"{name} is answered {registered.status}"
    listed = door.ask("GET", f"/subjects?subjectPrefix={quote(meant, safe='')}").json()
    if meant not in listed:
        return f"{name} is listed as {', '.join(listed) or 'nothing'}"
    return _read_back(door.ask("GET", f"/subjects/{day.subject(path)}/versions/latest"), name, meant)


def _dots_arrive(day: Day, door: Door, dots: str, schema: dict[str, str]) -> str:
    day.wrote = True
    path = f"{WITHIN}/subjects/{dots}/versions"
    if (registered := door.ask("POST", path, schema)).status != 200:
        return f"{dots} is answered {registered.status}"
    return _read_back(door.ask("GET", f"{path}/latest"), dots, PREFIX + unquote(dots))


def _read_back(answer: Answer, name: str, meant: str) -> str:
    if answer.status != 200:
        return f"{name} is read with {answer.status}"
    found = answer.json().get("subject")
    return "" if found == meant else f"{name} is read as {found}"


def head_is_get(day: Day, door: Door) -> str:
    path = f"{WITHIN}/schemas/ids/{day.id_at(door)}"
    got, head = door.ask("GET", path).expect(200), door.ask("HEAD", path).expect(200)
    if head.body:
        raise Failed("HEAD has a body")
    if head.headers.get("content-type") != got.headers.get("content-type"):
        raise Failed(
            f"HEAD has the Content-Type {head.headers.get('content-type')}, GET {got.headers.get('content-type')}"
        )
    return ""


def unchanged_is_304(day: Day, door: Door) -> str:
    """For clients that take gzip, too: the tag of a compressed answer may be another one."""
    path = f"{WITHIN}/schemas/ids/{day.id_at(door)}"
    for encoding in ("identity", "gzip"):
        answer = door.ask("GET", path, Accept_Encoding=encoding).expect(200)
        tag = answer.headers.get("etag")
        if not tag:
            raise Failed(f"the answer has no ETag (Accept-Encoding: {encoding})")
        again = door.ask("GET", path, Accept_Encoding=encoding, If_None_Match=tag).expect(304)
        if again.body:
            raise Failed("304 has a body")
        door.ask("GET", path, Accept_Encoding=encoding, If_None_Match='"another"').expect(200)
    return ""


def answers_are_packed(day: Day, door: Door) -> str:
    """Where the door compresses; elsewhere answers come as they are, and never in base64."""
    path = f"{WITHIN}/schemas/ids/{day.id_at(door)}"
    plain = door.ask("GET", path, Accept_Encoding="identity").expect(200)
    answer = door.ask("GET", path, Accept_Encoding="gzip").expect(200)
    encoding = answer.headers.get("content-encoding", "identity")
    if encoding != ("gzip" if door.kind.compresses else "identity"):
        raise Failed(f"Content-Encoding is {encoding}")
    try:
        text = gzip.decompress(answer.body) if door.kind.compresses else answer.body
    except (OSError, EOFError, zlib.error):
        raise Failed("the body is not gzip, as its header says") from None
    if text != plain.body:
        raise Failed("the compressed answer differs from the plain one")
    return "gzip" if door.kind.compresses else "as they are, which is what this door does"


def packed_bodies_are_understood(day: Day, door: Door) -> str:
    """Where the door unpacks; elsewhere they are refused, and nothing is registered."""
    body = gzip.compress(json.dumps(day.schema(f"packed {door.name}")).encode())
    day.wrote = True
    path = f"/subjects/{day.subject(f'packed-{door.name}')}/versions"
    answer = door.ask("POST", path, body, Content_Encoding="gzip")
    if door.kind.unpacks:
        answer.expect(200)
        return ""
    answer.refuses(400)
    return "refused, which is what this door does"


def too_large_is_413(day: Day, door: Door) -> str:
    """By the registry, with its own sentence."""
    said = door.ask("POST", f"/subjects/{day.subject('large')}/versions", b" " * (LIMIT + 1)).refuses(413)
    if str(LIMIT) not in said:
        raise Failed(f"the refusal does not name the limit: {said}")
    return ""


def much_too_large_is_413(day: Day, door: Door) -> str:
    """By the door, which cannot hand it on."""
    answer = door.ask("POST", f"/subjects/{day.subject('large')}/versions", b" " * TOO_LARGE_FOR_LAMBDA)
    if door.kind.says_itself:
        answer.refuses(413)
    else:
        answer.expect(413)
    return ""


def strangers_are_refused(_: Day, door: Door) -> str:
    if not door.key:
        raise NotAsked("this registry needs no key (auth=none)")
    answer = door.without_key().ask("GET", "/subjects")
    answer.refuses(401)
    header = "x-amzn-remapped-www-authenticate" if door.kind.renames else "www-authenticate"
    if not answer.headers.get(header, "").startswith("Basic"):
        raise Failed(f"the 401 has no header {header}")
    return ""


def nonsense_is_refused(_: Day, door: Door) -> str:
    """In the envelope, whoever notices it first."""
    door.ask("GET", "/no/such/route").refuses(404)
    door.ask("PATCH", "/subjects").refuses(405)
    return ""


def more_is_429(day: Day, door: Door) -> str:
    """Requests at once, in growing waves, until one is throttled: only where it is asked for, because it costs."""
    if not day.burst:
        raise NotAsked("throttling takes thousands of requests: add --burst 3000")
    sent, wave = 0, FIRST_WAVE
    with ThreadPoolExecutor(CROWD) as crowd:
        while sent < day.burst:
            wave = min(wave, day.burst - sent)
            sent += wave
            day.tell(f"{door.name}: {sent} requests …")
            answers = list(crowd.map(lambda _: door.ask("GET", "/"), range(wave)))
            if others := sorted({answer.status for answer in answers} - {200, 429}):
                raise Failed(f"under load it answers {', '.join(map(str, others))}")
            if throttled := [answer for answer in answers if answer.status == 429]:
                return _throttled(door, throttled[0], sent)
            wave *= 2
    raise NotAsked(f"because all {sent} requests were allowed: use a larger --burst")


def _throttled(door: Door, answer: Answer, sent: int) -> str:
    if door.kind.says_itself:
        answer.refuses(429)
        if not answer.headers.get("retry-after"):
            raise Failed("429 without Retry-After")
    return f"within {sent} requests"
