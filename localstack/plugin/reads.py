"""How often each object was read from S3: what is promised of zones can be looked at, `GET /_sigla/reads`.

{"bucket/key": how often GetObject was answered with its content}
"""

import threading
from collections import Counter
from typing import Any

from localstack.aws.handlers import run_custom_response_handlers
from localstack.services.edge import ROUTER

PATH = "/_sigla/reads"

_reads: Counter[str] = Counter()
_lock = threading.Lock()


def note(_: object, context: Any, response: Any) -> None:
    """Sees every answer of LocalStack."""
    operation = context.operation and context.operation.name
    if operation == "GetObject" and response.status_code == 200:
        with _lock:
            _reads[f"{context.service_request['Bucket']}/{context.service_request['Key']}"] += 1


def tell(_: object) -> dict[str, int]:
    with _lock:
        return dict(_reads)


def install() -> None:
    """Begins to count."""
    run_custom_response_handlers.append(note)
    ROUTER.add(PATH, tell)
