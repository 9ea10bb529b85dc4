"""Functions without containers: each environment is a process of Lambda's own runtime client.

LocalStack keeps the books (versions, aliases, URLs, who is busy) and asks an executor to run things; this one unpacks
code and layers where they are, and starts `python -m awslambdaric HANDLER` with an interpreter that sees them, the
runtime client, and nothing else of this machine. It runs in the zone of its function's first subnet.

Not played: memory limits, /var/task and /opt as paths, extensions, streamed answers, SnapStart, permissions.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import TimeoutError as TooLong
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from localstack.aws.connect import connect_to
from localstack.config import GATEWAY_LISTEN
from localstack.services.lambda_.invocation import execution_environment, runtime_executor, version_manager
from localstack.services.lambda_.invocation.assignment import AssignmentService
from localstack.services.lambda_.invocation.execution_environment import InvalidStatusException
from localstack.services.lambda_.invocation.executor_endpoint import StatusErrorException
from localstack.services.lambda_.invocation.lambda_models import FunctionVersion, InvocationResult
from localstack.services.lambda_.invocation.runtime_executor import LambdaRuntimeException, RuntimeExecutor

from .runtime_api import Invocation, RuntimeApi, error

RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
"""The one that can be run here: LocalStack's own interpreter is the one that there is."""

INTERPRETER = str(Path(sys.executable).resolve())
"""The same without LocalStack's environment around it."""

RUNTIME_CLIENT = os.environ.get("SIGLA_RUNTIME_CLIENT", "")
"""Where awslambdaric is installed."""

STARTS_WITHIN_S = 60.0
"""Lambda allows ten; this machine may be busy with other things."""

AT_ONCE = 4
"""Environments of a function at most: a machine is not a data centre. Requests wait for one."""


class Subprocess(RuntimeExecutor):  # type: ignore[misc]  # LocalStack's modules are not there where types are checked
    """One environment of a function: a process, and the Runtime API that feeds it."""

    def __init__(self, id: str, function_version: FunctionVersion) -> None:
        super().__init__(id=id, function_version=function_version)
        self.folder = Path(tempfile.mkdtemp(prefix="function-"))
        self.output = self.folder / "output"
        self.environment: dict[str, str] = {}
        self.zone = ""
        self.process: subprocess.Popen[bytes] | None = None
        self.api: RuntimeApi | None = None

    @classmethod
    def prepare_version(cls, function_version: FunctionVersion) -> None:
        """Unpacks code and layers, once."""
        if function_version.config.runtime != RUNTIME:
            raise LambdaRuntimeException(f"Unsupported runtime {function_version.config.runtime}: expected {RUNTIME}")
        for part in (function_version.config, *function_version.config.layers):
            part.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version: FunctionVersion) -> None:
        """Nothing: what is unpacked goes with LocalStack's folder."""

    def get_address(self) -> str:
        return "127.0.0.1"

    def get_endpoint_from_executor(self) -> str:
        return "127.0.0.1"

    def get_runtime_endpoint(self) -> str:
        return f"http://127.0.0.1:{GATEWAY_LISTEN[0].port}"

    def get_logs(self) -> str:
        """What the process has written since the last call."""
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def start(self, env_vars: dict[str, str]) -> None:
        """Raises StatusErrorException with what the function said if it cannot be imported."""
        told = self.function_version.config
        self.zone = zone_of(self.function_version)
        layers = [Path(layer.code.get_unzipped_code_location()) for layer in told.layers]
        code = str(told.code.get_unzipped_code_location())
        # Lambda's own order, in which the last layer lies over the others.
        path = [code, *(str(layer / "python") for layer in reversed(layers)), RUNTIME_CLIENT]
        self.environment = {
            "PATH": os.defpath,
            "LANG": "en_US.UTF-8",
            **{name: str(value) for name, value in env_vars.items()},
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{RUNTIME}",
            "LAMBDA_TASK_ROOT": code,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(self.folder),
        }
        self._spawn()

    def invoke(self, payload: dict[str, str]) -> InvocationResult:
        """What the function answers. A process that ended or took too long is replaced at the next invocation."""
        if self.api is None or self.process is None or self.process.poll() is not None:
            self._end()
            self.api = self._spawn()
        request_id, timeout = payload["invoke-id"], float(self.function_version.config.timeout)
        event, arn = payload["payload"].encode(), payload["invoked-function-arn"]
        invocation = Invocation(request_id, event, arn, timeout)
        self.api.submit(invocation)
        try:
            answer = invocation.answer.result(timeout)
        except TooLong:
            self._end()
            answer = error("Sandbox.Timedout", f"RequestId: {request_id} Error: Task timed out after {timeout} seconds")
        return InvocationResult(request_id, answer.body, is_error=answer.failed, logs=self._taken())

    def stop(self) -> None:
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _spawn(self) -> RuntimeApi:
        """A process that asks for its first event. Raises StatusErrorException."""
        api = self.api = RuntimeApi(self.zone)
        # No packages but those of the path; and in LocalStack's own process group, so that it does not outlive it.
        command = [INTERPRETER, "-S", "-m", "awslambdaric", self.function_version.config.handler]
        with self.output.open("ab") as output:
            process = self.process = subprocess.Popen(
                command,
                cwd=self.environment["LAMBDA_TASK_ROOT"],
                env={**self.environment, **api.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

        def tell_the_end() -> None:
            api.settle(error("Runtime.ExitError", f"Runtime exited with error: exit status {process.wait()}"))

        threading.Thread(target=tell_the_end, name="function-end", daemon=True).start()
        try:
            failure = api.ready.result(STARTS_WITHIN_S)
        except TooLong:
            failure = error("Sandbox.Timedout", f"Init phase timed out after {STARTS_WITHIN_S:.0f} seconds")
        if failure:
            self._end()
            raise StatusErrorException(f"The function does not start:\n{self._taken()}", payload=failure.body)
        return api

    def _end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
        if self.api:
            self.api.close()
        self.process = self.api = None

    def _taken(self) -> str:
        """What the process has written since the last time."""
        logs = self.get_logs()
        os.truncate(self.output, 0)
        return logs


def zone_of(function_version: FunctionVersion) -> str:
    """The id of the zone that its first subnet is in; empty for a function without a network of its own."""
    network, function = function_version.config.vpc_config, function_version.id
    if not network or not network.subnet_ids:
        return ""
    ec2 = connect_to(aws_access_key_id=function.account, region_name=function.region).ec2
    (subnet,) = ec2.describe_subnets(SubnetIds=network.subnet_ids[:1])["Subnets"]
    return str(subnet["AvailabilityZoneId"])


_free: defaultdict[str, threading.BoundedSemaphore] = defaultdict(partial(threading.BoundedSemaphore, AT_ONCE))
"""How many environments may still be busy, by version."""


@contextmanager
def get_environment(
    self: AssignmentService, version_manager_id: str, function_version: FunctionVersion, _: Any
) -> Iterator[Any]:
    """An environment that is free, or a new one. LocalStack's own starts as many as there are requests.

    It also gives a new one away twice if two requests meet there; here it is reserved before others can see it.
    """
    known = self.environments[version_manager_id]
    with _free[version_manager_id]:
        environment = next(filter(_reserved, list(known.values())), None)
        if environment is None:
            environment = self.start_environment(version_manager_id, function_version)
            environment.reserve()
            known[environment.id] = environment
        try:
            yield environment
            environment.release()
        except Exception:
            self.stop_environment(environment)
            raise


def _reserved(environment: Any) -> bool:
    """Whether it was free, and is now ours."""
    try:
        environment.reserve()
    except InvalidStatusException:
        return False
    return True


def install() -> None:
    """Makes this LocalStack's executor."""
    for module in (runtime_executor, execution_environment, version_manager):
        module.get_runtime_executor = lambda: Subprocess
    AssignmentService.get_environment = get_environment
