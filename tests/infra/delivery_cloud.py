"""CloudFormation with a memory, over HTTP: as much of it as `sigla deploy` speaks to."""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from tests.infra.cloudformation import XMLNS, Answer, missing, refused

ARN = "arn:aws:cloudformation:us-east-1:123456789012:stack/registry/1"


def written(value: object) -> str:
    """As XML: members of a list, names of a mapping."""
    if isinstance(value, Mapping):
        return "".join(f"<{name}>{written(each)}</{name}>" for name, each in value.items())
    if isinstance(value, list):
        return "".join(f"<member>{written(each)}</member>" for each in value)
    return escape(str(value))


@dataclass
class Cloud:
    """One stack of an account, if it is there.

    changes: what a change set says. ends: the status in which a deployment comes to rest, and failed: a resource with
    the reason. outputs: of a stack that was deployed. asked: actions, in order.
    """

    outputs: dict[str, str]
    changes: list[dict[str, Any]] = field(default_factory=list)
    status: str = ""
    ends: str = "CREATE_COMPLETE"
    failed: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
    told: dict[str, str] = field(default_factory=dict)
    template: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, action: str, given: Mapping[str, str]) -> Answer:
        """What CloudFormation answers, an error where the action is unknown here."""
        self.asked.append(action)
        result = getattr(self, "on" + re.sub("([A-Z])", r"_\1", action).lower())(given)
        if isinstance(result, tuple):
            return result[0], result[1]
        return 200, f"<{action}Response {XMLNS}><{action}Result>{written(result)}</{action}Result></{action}Response>"

    def on_list_stacks(self, _: Mapping[str, str]) -> object:
        return {"StackSummaries": []}

    def on_describe_stacks(self, given: Mapping[str, str]) -> object:
        if not self.status:
            return missing(given["StackName"]) if "StackName" in given else {"Stacks": []}
        told = [{"OutputKey": name, "OutputValue": value} for name, value in self.told.items()]
        time = "2026-11-22T00:00:00Z"
        stack = {"StackName": "registry", "StackId": ARN, "StackStatus": self.status, "CreationTime": time}
        return {"Stacks": [{**stack, "Outputs": told}]}

    def on_create_change_set(self, given: Mapping[str, str]) -> object:
        self.url = given["TemplateURL"]
        self.status = self.status or "REVIEW_IN_PROGRESS"
        return {"Id": f"{ARN}/set", "StackId": ARN}

    def on_describe_change_set(self, _: Mapping[str, str]) -> object:
        if self.refusal:
            return {"Status": "FAILED", "StatusReason": self.refusal}
        return {"Status": "CREATE_COMPLETE", "Changes": [{"ResourceChange": each} for each in self.changes]}

    def on_execute_change_set(self, _: Mapping[str, str]) -> object:
        self.status = self.ends
        for name, reason in self.failed:
            self.happens(name, "CREATE_FAILED", reason)
        if not self.failed:
            self.told = self.outputs
            self.happens("registry", self.ends)
        return {}

    def on_describe_stack_events(self, _: Mapping[str, str]) -> object:
        return {"StackEvents": self.events[::-1]}

    def on_delete_change_set(self, _: Mapping[str, str]) -> object:
        return {}

    def on_delete_stack(self, _: Mapping[str, str]) -> object:
        protection = [each for each in self.asked if "Protection" in each]
        if protection and protection[-1].endswith("True"):
            return refused("ValidationError", "TerminationProtection is enabled")
        self.status = "" if self.status == "REVIEW_IN_PROGRESS" else "DELETE_COMPLETE"
        return {}

    def on_update_termination_protection(self, given: Mapping[str, str]) -> object:
        self.asked[-1] += given["EnableTerminationProtection"].capitalize()
        return {"StackId": ARN}

    def on_get_template(self, _: Mapping[str, str]) -> object:
        return {"TemplateBody": json.dumps(self.template)}

    def happens(self, name: str, status: str, reason: str = "") -> None:
        """An event of a resource, a second after the last."""
        self.events.append(
            {
                "StackId": ARN,
                "EventId": str(len(self.events)),
                "StackName": "registry",
                "LogicalResourceId": name,
                "ResourceType": "AWS::Lambda::Function",
                "Timestamp": f"2026-11-22T00:00:{len(self.events):02}Z",
                "ResourceStatus": status,
                "ResourceStatusReason": reason,
            }
        )


@contextmanager
def serving(cloud: Cloud) -> Iterator[str]:
    """Its endpoint."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            given = {name: values[0] for name, values in asked.items()}
            status, body = cloud.answer(given["Action"], given)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """The log is not read."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
