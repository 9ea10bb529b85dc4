"""Recorded conversations, replayed against an application in this process."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.protocol.judge import Ids, Json, difference

RECORDED = Path(__file__).parent / "recorded"
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


def sessions(name: str) -> list[Json]:
    with gzip.open(RECORDED / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def everything(step: Json) -> bool:
    """All steps are sent."""
    return True


async def replay(
    app: Any, recorded: list[Json], *, sent: Callable[[Json], bool] = everything
) -> dict[tuple[int, int], str]:
    """Every difference, by the numbers of its session and step. sent: whether a step is part of the conversation."""
    ids = Ids()
    found: dict[tuple[int, int], str] = {}
    for session in recorded:
        for number, step in enumerate(session["steps"]):
            if not sent(step):
                continue
            status, text = await _ask(app, step, ids)
            differs = difference(step, status, text, ids)
            if differs:
                found[session["n"], number] = f"{step['method']} {step['path']}: {differs}"
    return found


async def _ask(app: Any, step: Json, ids: Ids) -> tuple[int, str]:
    """The application is called as a server would call it: a client between takes as long as the application itself."""
    headers = {"Host": "registry", "Accept": MEDIA_TYPE, **step.get("headers", {})}
    content = step.get("content")
    body = b""
    if content is not None:
        headers.setdefault("Content-Type", MEDIA_TYPE)
        body = ids.fill(content).encode("utf-8", "surrogatepass")
        headers["Content-Length"] = str(len(body))
    url = httpx.URL("http://registry" + ids.fill(step["path"]))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": step["method"],
        "scheme": "http",
        "path": url.path,
        "raw_path": url.raw_path.partition(b"?")[0],
        "query_string": url.query,
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "server": ("registry", 80),
        "client": ("127.0.0.1", 12345),
    }
    sent: list[Json] = []

    async def receive() -> Json:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Json) -> None:
        sent.append(message)

    await app(scope, receive, send)
    answer = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], answer.decode("utf-8", "replace")
