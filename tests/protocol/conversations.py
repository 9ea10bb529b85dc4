"""Recorded conversations, replayed against an application in this process."""

import gzip
import json
from pathlib import Path
from typing import Any

import httpx

from tests.protocol.judge import Ids, Json, difference

RECORDED = Path(__file__).parent / "recorded"
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


def sessions(name: str) -> list[Json]:
    with gzip.open(RECORDED / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


async def replay(app: Any, recorded: list[Json]) -> dict[tuple[int, int], str]:
    """Every difference, by the numbers of its session and step."""
    ids = Ids()
    found: dict[tuple[int, int], str] = {}
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://registry") as client:
        for session in recorded:
            for number, step in enumerate(session["steps"]):
                answer = await client.send(_request(client, step, ids))
                differs = difference(step, answer.status_code, answer.text, ids)
                if differs:
                    found[session["n"], number] = f"{step['method']} {step['path']}: {differs}"
    return found


def _request(client: httpx.AsyncClient, step: Json, ids: Ids) -> httpx.Request:
    headers = {"Accept": MEDIA_TYPE, **step.get("headers", {})}
    content = step.get("content")
    if content is not None:
        headers.setdefault("Content-Type", MEDIA_TYPE)
        content = ids.fill(content).encode("utf-8", "surrogatepass")
    url = "http://registry" + ids.fill(step["path"])
    return client.build_request(step["method"], url, headers=headers, content=content)
