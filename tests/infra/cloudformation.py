"""CloudFormation, as far as it is asked for a stack: over HTTP, for boto3 in this process and in others."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

Answer = tuple[int, str]
"""The status and the body."""

XMLNS = 'xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"'


def _none(action: str) -> Answer:
    """A list without any stack."""
    return (
        200,
        f"<{action}Response {XMLNS}><{action}Result><Stacks/><StackSummaries/></{action}Result></{action}Response>",
    )


def described(name: str, outputs: Mapping[str, str], status: str = "CREATE_COMPLETE") -> Answer:
    told = "".join(
        f"<member><OutputKey>{key}</OutputKey><OutputValue>{value}</OutputValue></member>"
        for key, value in outputs.items()
    )
    stack = (
        f"<StackName>{name}</StackName><CreationTime>2026-11-22T00:00:00Z</CreationTime>"
        f"<StackStatus>{status}</StackStatus><Outputs>{told}</Outputs>"
    )
    result = f"<DescribeStacksResult><Stacks><member>{stack}</member></Stacks></DescribeStacksResult>"
    return 200, f"<DescribeStacksResponse {XMLNS}>{result}</DescribeStacksResponse>"


def refused(code: str, message: str, status: int = 400) -> Answer:
    error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
    return status, f"<ErrorResponse {XMLNS}>{error}</ErrorResponse>"


def missing(name: str) -> Answer:
    return refused("ValidationError", f"Stack with id {name} does not exist")


@contextmanager
def answering(answer: Callable[[str], Answer], listed: Callable[[str], Answer] = _none) -> Iterator[str]:
    """Its endpoint. answer: what it says of a stack's name. listed: to an action that names no stack."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            status, body = answer(asked["StackName"][0]) if "StackName" in asked else listed(asked["Action"][0])
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """The log is not read."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
