"""A small registry that has one of everything that a page shows, and what a hostile client might write into it."""

import json
from typing import Any
from urllib.parse import quote

from tests.protocol.clients.server import Server

HITS = "document.documentElement.dataset.hit='1'"
SCRIPTS = (
    f"<script>{HITS}</script>",
    f'"><img src=x onerror="{HITS}">',
    f"<svg onload={HITS}>",
    f"javascript:{HITS}",
    f"{{{{constructor.constructor('{HITS}')()}}}}",
    f"</pre></code><iframe srcdoc='<script>parent.{HITS}</script>'></iframe>",
)
"""Each writes a mark into the page if anything runs it."""


def record(name: str, *fields: dict[str, Any], **more: Any) -> str:
    return json.dumps({"type": "record", "name": name, "namespace": "com.acme", "fields": fields, **more})


def field(name: str, type: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **more}


def fill(server: Server) -> None:
    def register(subject: str, schema: str, **more: Any) -> None:
        answer = server.ask("POST", f"/subjects/{quote(subject, safe='')}/versions", {"schema": schema, **more})
        assert answer.status == 200, answer.body

    register("address-value", record("Address", field("street", "string"), field("zip", "string")))
    base = [field("id", "long"), field("name", "string", doc="As the customer writes it")]
    address = [{"name": "com.acme.Address", "subject": "address-value", "version": 1}]
    home, email = field("address", "Address"), field("email", ["null", "string"], default=None)
    register("customers-value", record("Customer", *base, home), references=address)
    owner = {"properties": {"owner": "crm"}}
    register("customers-value", record("Customer", *base, home, email), references=address, metadata=owner)
    register("orders-value", record("Order", field("id", "string"), field("total", "int", doc="What it costs")))
    server.ask("PUT", "/config/orders-value", {"compatibility": "NONE"})
    register("orders-value", record("Order", field("id", "string"), field("total", "long"), field("at", "long")))
    money = 'syntax = "proto3";\n\n// Money moves.\nmessage Payment {\n  string id = 1;\n  int64 cents = 2;\n}\n'
    register("payments-value", money, schemaType="PROTOBUF")
    click = {"type": "object", "properties": {"url": {"type": "string"}}}
    register("clicks-value", json.dumps(click), schemaType="JSON")
    register(":.eu:customers-value", record("Customer", *base))
    server.ask("PUT", "/config/:.eu:", {"compatibility": "FULL"})
    register("gone-value", record("Gone"))
    server.ask("DELETE", "/subjects/gone-value")
    kek = {"name": "customers", "kmsType": "local-kms", "kmsKeyId": "masters/1"}
    assert server.ask("POST", "/dek-registry/v1/keks", kek).status == 200
    dek = {"subject": "customers-value", "encryptedKeyMaterial": "AAAA"}
    assert server.ask("POST", "/dek-registry/v1/keks/customers/deks", dek).status == 200
    clicks = {"subject": "clicks-value", "associationType": "value", "lifecycle": "WEAK"}
    topic = {"resourceName": "clicks", "resourceNamespace": "lkc-1", "resourceId": "clicks-id", "resourceType": "topic"}
    answer = server.ask("POST", "/associations", {**topic, "associations": [clicks]})
    assert answer.status == 200, answer.body
    for at in range(50):
        register(f"topic-{at:02}-value", record(f"Topic{at}"))


def fill_with_scripts(server: Server) -> list[str]:
    """The names of subjects that have a script wherever a client may write a text."""
    names = []
    for at, script in enumerate(SCRIPTS):
        name = f"{at} {script}"
        path = f"/subjects/{quote(name, safe='')}/versions"
        for version in range(2):
            odd = field(f"f{version}", "string", doc=f"{script}{version}", default=script)
            hostile = {"schema": record(f"S{at}", odd, doc=script), "metadata": {"properties": {script: script}}}
            answer = server.ask("POST", path, hostile)
            assert answer.status == 200, answer.body
        names.append(name)
    return names
