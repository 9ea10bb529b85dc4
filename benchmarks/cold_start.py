"""A cold start as Lambda makes one: from the start of the process to the first answer, then answers while it is warm.

The packages that are deployed (`sigla.deployment.packages`) run in Lambda's own runtime client, fed by a Runtime API on
this machine, against DynamoDB's own engine and moto's S3. In turns with it and with the same layer run bare functions
of FastAPI and Mangum: one returns a constant, one asks boto3 for one row and one object, as any registry there must.
Then what is uploaded: bytes, beside what Lambda allows.

It may mislead: this machine is not Lambda's, its files are warm, and it has no network; SnapStart restores a process
that has imported everything, so that what is measured here is what it saves. Moto's S3 takes longer than S3's cache.
"""

import json
import os
import shutil
import subprocess
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import filled
from benchmarks.account import BUCKET, Account, account
from benchmarks.harness import Goal, Line, Lines, NotHere, in_turns, main
from benchmarks.warm_get import EVENTS, REST
from localstack import installation
from localstack.plugin.runtime_api import Invocation, RuntimeApi
from sigla import keys
from sigla.deployment import packages
from sigla.model import DEFAULT_CONTEXT, BodyKey, Draft, SchemaId
from sigla_pipelines.connectors.maven import Unavailable

STARTS_WITHIN_S = 60.0
ARN = "arn:aws:lambda:us-east-1:000000000000:function:benchmark"

CONSTANT = """
from fastapi import FastAPI
from fastapi.responses import Response
from mangum import Mangum

MEDIA = "application/vnd.schemaregistry.v1+json"
app = FastAPI()

@app.get("/schemas/ids/{id}")
def schema(id: int) -> Response:
    return Response(b"x" * 600, media_type=MEDIA)

handler = Mangum(app, lifespan="off", text_mime_types=[MEDIA])
"""
ASKING = """
import os

import boto3
from fastapi import FastAPI
from fastapi.responses import Response
from mangum import Mangum

MEDIA = "application/vnd.schemaregistry.v1+json"
app = FastAPI()
s3, dynamodb = boto3.client("s3"), boto3.client("dynamodb")

@app.get("/schemas/ids/{id}")
def schema(id: int) -> Response:
    dynamodb.get_item(TableName=os.environ["TABLE"], Key={"pk": {"S": "default#i#_#1"}, "sk": {"S": "HOLDERS"}})
    found = s3.get_object(Bucket=os.environ["BUCKET"], Key=os.environ["KEY"])
    return Response(found["Body"].read(), media_type=MEDIA)

handler = Mangum(app, lifespan="off", text_mime_types=[MEDIA])
"""


def lines(*, quick: bool = False) -> Lines:
    rounds, warm = (1, 5) if quick else (15, 300)
    runtime = lambda_runtime()
    with filled.workspace() as path, account() as made:
        with made.registry() as registry:
            registry.register(filled.subject(1), Draft(filled.text(1)))
        ours, constant, asking = _functions(path, made, runtime)
        starts = [median(each) for each in in_turns(rounds, ours.start, constant.start, asking.start)]
        what, goal = "cold start to the first GET by id", None if quick else Goal(1.25)
        yield Line(what, starts[0], "s", starts[1], "FastAPI + Mangum, a constant")
        yield Line(what, starts[0], "s", starts[2], "… + boto3, one row, one object", goal)
        with ours.running() as here, constant.running() as least, asking.running() as peer:
            for door, event in EVENTS.items():
                turns = in_turns(warm, *(_asking(each, event) for each in (here, least, peer)))
                medians = [median(each) for each in turns]
                what = f"warm GET by id through the runtime, {door}"
                goal = None if quick else Goal(1.5)
                yield Line(what, medians[0], "s", medians[1], "FastAPI + Mangum, a constant", goal)
                yield Line(what, medians[0], "s", medians[2], "… + boto3, one row, one object")
        yield from _sizes(path, quick=quick)


def _sizes(path: Path, *, quick: bool) -> Lines:
    """Lambda takes 50 MB zipped from a request and 250 MB unzipped, layers and code together (its quotas)."""
    layer, code = (packages.built(each) for each in (packages.layer(packages.host()), packages.code("registry")))
    if not quick:
        yield Line("layer, zipped", _zipped(layer, path), "B", 50e6, "what one upload may have", Goal(0.5))
    yield Line("code of the function, zipped", _zipped(code, path), "B", 50e6, "what one upload may have", Goal(0.1))
    unzipped = sum(_unzipped(each) for each in (layer, code))
    yield Line("layer and code, unzipped", unzipped, "B", 250e6, "what a function may have", Goal(0.3))


def _zipped(folder: Path, scratch: Path) -> int:
    made = shutil.make_archive(str(scratch / folder.name), "zip", folder)
    with zipfile.ZipFile(made) as archive:
        if archive.testzip() is not None:
            raise RuntimeError(f"{made} is broken")
    return Path(made).stat().st_size


def _unzipped(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


# --- functions --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Environment:
    """A process of a function, and what feeds it."""

    api: RuntimeApi
    process: "subprocess.Popen[bytes]"
    _requests: Iterator[int] = field(default_factory=lambda: count(1))

    def submit(self, event: Mapping[str, Any]) -> Invocation:
        asked = Invocation(f"request-{next(self._requests)}", json.dumps(event).encode(), ARN, STARTS_WITHIN_S)
        self.api.submit(asked)
        return asked


@dataclass(frozen=True, slots=True)
class Runtime:
    """What Lambda brings: an interpreter, and in a folder its runtime client."""

    python: str
    client: Path


def lambda_runtime() -> Runtime:
    try:
        python = installation.find_python(installation.candidates(os.environ))
        return Runtime(python, installation.runtime_client(os.environ))
    except Unavailable as reason:
        raise NotHere(str(reason)) from reason


@dataclass(frozen=True, slots=True)
class Function:
    """code: with `handler.handler` in it. told: its environment variables."""

    runtime: Runtime
    code: Path
    told: Mapping[str, str]

    @contextmanager
    def running(self) -> Iterator[Environment]:
        """A process that has been started and asked nothing."""
        api = RuntimeApi()
        environment = {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "AWS_LAMBDA_RUNTIME_API": api.address,
            "AWS_LAMBDA_FUNCTION_NAME": "benchmark",
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
            "AWS_EXECUTION_ENV": f"AWS_Lambda_python{packages.PYTHON}",
            "LAMBDA_TASK_ROOT": str(self.code),
            "PYTHONPATH": os.pathsep.join([str(self.code), str(_layer()), str(self.runtime.client)]),
            **self.told,
        }
        command = [self.runtime.python, "-S", "-m", "awslambdaric", "handler.handler"]
        process = subprocess.Popen(command, cwd=self.code, env=environment, stdout=subprocess.DEVNULL)
        try:
            yield Environment(api, process)
        finally:
            process.kill()
            process.wait()
            api.close()

    def start(self) -> float:
        """Seconds until the first event is answered, which waits for the process."""
        begun = time.perf_counter()
        with self.running() as environment:
            _settled(environment.submit(REST), environment)
            return time.perf_counter() - begun


def our_function(made: Account, runtime: Runtime) -> Function:
    ours = {"SIGLA_TABLE": made.table, "SIGLA_BUCKET": BUCKET, "SIGLA_AUTH": "none"}
    return Function(runtime, packages.built(packages.code("registry")), {**made.environment, **ours})


def _functions(path: Path, made: Account, runtime: Runtime) -> tuple[Function, Function, Function]:
    """Ours; one that returns a constant; one that asks."""
    body = keys.body_object("default", BodyKey(DEFAULT_CONTEXT, SchemaId(1)))
    named = {"TABLE": made.table, "BUCKET": BUCKET}
    bare = []
    for name, source in {"constant": CONSTANT, "asking": ASKING}.items():
        (path / name).mkdir()
        (path / name / "handler.py").write_text(source, encoding="utf-8")
        bare.append(Function(runtime, path / name, {**made.environment, **named, "KEY": body}))
    return our_function(made, runtime), bare[0], bare[1]


def _asking(environment: Environment, event: Mapping[str, Any]) -> Any:
    def work() -> float:
        begun = time.perf_counter()
        _settled(environment.submit(event), environment)
        return time.perf_counter() - begun

    _settled(environment.submit(event), environment)
    return work


def _settled(asked: Invocation, environment: Environment) -> None:
    """Raises RuntimeError with what the function said."""
    answer = asked.answer.result(STARTS_WITHIN_S)
    if answer.failed or json.loads(answer.body)["statusCode"] != 200:
        raise RuntimeError(f"{answer.body!r}, {environment.process.poll()}")


def _layer() -> Path:
    return packages.built(packages.layer(packages.host())) / "python"


if __name__ == "__main__":
    main(lines, __doc__)
