"""A small registry that has one of everything that a page shows, and what a hostile client might write into it."""

import json
from typing import Any, Protocol
from urllib.parse import quote

from tests.protocol.clients.server import Answer

HITS = "document.documentElement.dataset.hit='1'"
SCRIPTS = (
    f"<script>{HITS}</script>",
    f'"><img src=x onerror="{HITS}">',
    f"<svg onload={HITS}>",
    f"javascript:{HITS}",
    f"{{{{constructor.constructor('{HITS}')()}}}}",
    f"</pre></code><iframe srcdoc='<script>parent.{HITS}</script>'></iframe>",
    f"</script><script>{HITS}</script>",
    f"</title></textarea></template></noscript><script>{HITS}</script>",
)
"""Each writes a mark into the page if anything runs it."""


def record(name: str, *fields: dict[str, Any], **more: Any) -> str:
    return json.dumps({"type": "record", "name": name, "namespace": "com.acme", "fields": fields, **more})


def field(name: str, type: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **more}


class Registry(Protocol):
    """One that is there, in a process or behind doors."""

    @property
    def url(self) -> str:
        """Without a slash at the end."""

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """A body is sent as JSON."""


def register(server: Registry, subject: str, schema: str, **more: Any) -> Any:
    path = f"/subjects/{quote(subject, safe='')}/versions"
    answer = server.ask("POST", path, {"schema": schema, **more})
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


def fill_a_little(server: Registry) -> None:
    """Two subjects of two versions each, one of which refers to a third."""
    register(server, "address-value", record("Address", field("street", "string"), field("zip", "string")))
    base = [field("id", "long"), field("name", "string", doc="As the customer writes it")]
    address = [{"name": "com.acme.Address", "subject": "address-value", "version": 1}]
    home, email = field("address", "Address"), field("email", ["null", "string"], default=None)
    register(server, "customers-value", record("Customer", *base, home), references=address)
    owner = {"properties": {"owner": "crm"}}
    register(server, "customers-value", record("Customer", *base, home, email), references=address, metadata=owner)
    register(server, "orders-value", record("Order", field("id", "string"), field("total", "int", doc="What it costs")))
    server.ask("PUT", "/config/orders-value", {"compatibility": "NONE"})
    register(
        server, "orders-value", record("Order", field("id", "string"), field("total", "long"), field("at", "long"))
    )


def fill(server: Registry) -> None:
    fill_a_little(server)
    money = 'syntax = "proto3";\n\n// Money moves.\nmessage Payment {\n  string id = 1;\n  int64 cents = 2;\n}\n'
    register(server, "payments-value", money, schemaType="PROTOBUF")
    click = {"type": "object", "properties": {"url": {"type": "string"}}}
    register(server, "clicks-value", json.dumps(click), schemaType="JSON")
    register(server, ":.eu:customers-value", record("Customer", field("id", "long")))
    server.ask("PUT", "/config/:.eu:", {"compatibility": "FULL"})
    register(server, "gone-value", record("Gone"))
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
        register(server, f"topic-{at:02}-value", record(f"Topic{at}"))


def fill_with_scripts(server: Registry) -> list[str]:
    """The names of subjects that have a script wherever a client may write a text.

    Each has two versions in Avro. With the same name behind the letter `j` there is one in JSON Schema, behind `p` one
    in Protobuf, and behind `r` one that refers to the first.
    """
    names = []
    for at, script in enumerate(SCRIPTS):
        name = f"{at} {script}"
        beside = {"metadata": {"properties": {script: script, "url": f"javascript:{HITS}"}}}
        for version in range(2):
            odd = field(f"f{version}", "string", doc=f"{script}{version}", default=script)
            register(server, name, record(f"S{at}", odd, doc=script), **beside)
        told = {"type": "string", "description": script, "default": script, "enum": [script], "title": script}
        whole = {"$id": script, "title": script, "type": "object", "properties": {script: told}}
        rule = {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": script, "doc": script}
        rules = {"ruleSet": {"domainRules": [rule]}}
        register(server, f"j{name}", json.dumps(whole), schemaType="JSON", **beside, **rules)
        message = f"message M{at} {{ string a = 1 [json_name = {json.dumps(script)}]; }}"
        register(server, f"p{name}", f'syntax = "proto3"; // {script}\n{message}', schemaType="PROTOBUF")
        referred = [{"name": f"com.acme.S{at}", "subject": name, "version": 1}]
        register(server, f"r{name}", record(f"R{at}", field("x", f"com.acme.S{at}")), references=referred)
        register(server, f":.{script.replace(':', '')}:a", '"int"')
        config = {"alias": script, "compatibilityGroup": script}
        assert server.ask("PUT", f"/config/{quote(f'a{name}', safe='')}", config).status == 200
        kek = {"name": f"kek-{at}", "kmsType": script, "kmsKeyId": script, "doc": script}
        assert server.ask("POST", "/dek-registry/v1/keks", kek).status == 200
        names.append(name)
    return names
