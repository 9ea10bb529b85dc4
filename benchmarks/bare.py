"""The least that could answer: a framework that returns a constant, as a server or behind Mangum.

`python -m benchmarks.bare starlette|fastapi --port PORT --size BYTES` serves it with the settings of `sigla serve`.
"""

import argparse
from collections.abc import Callable, Mapping

import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

MEDIA = "application/vnd.schemaregistry.v1+json"


def starlette(size: int) -> Starlette:
    """Answers GETs with so many bytes, and POSTs as well, once it has read their bodies."""
    answer = b"x" * size

    async def told(_: Request) -> Response:
        return Response(answer, media_type=MEDIA)

    async def taken(request: Request) -> Response:
        await request.body()
        return Response(answer, 422, media_type=MEDIA)

    async def answered(request: Request) -> Response:
        await request.body()
        return Response(answer, media_type=MEDIA)

    return Starlette(
        routes=[
            Route("/subjects", told),
            Route("/schemas/ids/{id}", told),
            Route("/subjects/{subject}/versions", taken, methods=["POST"]),
            Route("/compatibility/subjects/{subject}/versions/{version}", answered, methods=["POST"]),
        ]
    )


def fastapi(size: int) -> FastAPI:
    answer = b"x" * size
    app = FastAPI()

    @app.get("/subjects")
    async def subjects() -> Response:
        return Response(answer, media_type=MEDIA)

    @app.get("/schemas/ids/{id}")
    async def schema(id: int) -> Response:  # noqa: ARG001 - read and checked by FastAPI
        return Response(answer, media_type=MEDIA)

    return app


APPS: Mapping[str, Callable[[int], Starlette]] = {"starlette": starlette, "fastapi": fastapi}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("app", choices=APPS)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--size", type=int, default=100)
    args = parser.parse_args()
    uvicorn.run(
        APPS[args.app](args.size),
        port=args.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_level="warning",
    )
