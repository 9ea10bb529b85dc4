"""A walk over all routes of the API: each of them answers."""

from typing import Any

from sigla.regions.nouns import RegionKind, Role
from sigla.regions.wire import role_form
from sigla.web.api.dispatch import Dispatch
from sigla.web.api.routes import ROUTES
from tests.unit.web.conftest import Client

INT = {"schema": '"int"'}
ORDERS = {"resourceName": "orders", "resourceNamespace": "-", "resourceId": "lkc-1"}
ORDERS_USE_S = {**ORDERS, "associations": [{"subject": "s", "lifecycle": "WEAK"}]}
KEYS = "/console/api/keys"
"""An open registry has none."""
K = "/dek-registry/v1/keks"
X = "/exporters"


def test_every_endpoint_answers(client: Client) -> None:
    """A walk over the table: each row is asked once, in an order in which each has something to say."""
    client("POST", "/subjects/s/versions", INT)
    guid = client("GET", "/schemas/ids/1").json["guid"]
    empty: dict[str, str] = {}
    clusters = {"kafka-cluster": "sigla", "schema-registry-cluster": "schema-registry"}
    walk: list[tuple[str, str, Any, int, Any]] = [
        ("GET", "/", None, 200, empty),
        ("POST", "/", empty, 200, empty),
        ("GET", "/v1/metadata/id", None, 200, {"scope": {"path": [], "clusters": clusters}}),
        ("GET", "/v1/metadata/version", None, 200, {"version": "8.5.0", "commitId": "Unknown"}),
        ("GET", "/v1/metadata/deployment", None, 200, {"attributes": []}),
        ("GET", "/zones", None, 200, []),
        ("GET", "/contexts", None, 200, ["."]),
        ("DELETE", "/contexts/.none", None, 204, None),
        ("GET", "/schemas", None, 200, ...),
        ("GET", "/schemas/types", None, 200, ["JSON", "PROTOBUF", "AVRO"]),
        ("GET", "/schemas/ids/1", None, 200, ...),
        ("GET", "/schemas/ids/1/schema", None, 200, "int"),
        ("GET", "/schemas/ids/1/subjects", None, 200, ["s"]),
        ("GET", "/schemas/ids/1/versions", None, 200, [{"subject": "s", "version": 1}]),
        ("GET", f"/schemas/guids?guids={guid}", None, 200, ...),
        ("GET", f"/schemas/guids/{guid}", None, 200, ...),
        ("GET", f"/schemas/guids/{guid}/ids", None, 200, [{"context": ".", "id": 1}]),
        ("GET", "/subjects", None, 200, ["s"]),
        ("POST", "/subjects/s", INT, 200, ...),
        ("GET", "/subjects/s/metadata", None, 404, ...),
        ("GET", "/subjects/s/versions", None, 200, [1]),
        ("GET", "/subjects/s/history", None, 200, ...),
        ("GET", "/subjects/s/usage", None, 200, ...),
        ("GET", "/subjects/s/diff/1/latest", None, 200, ...),
        ("GET", "/subjects/s/versions/1", None, 200, ...),
        ("GET", "/subjects/s/versions/1/schema", None, 200, "int"),
        ("GET", "/subjects/s/versions/1/referencedby", None, 200, []),
        ("POST", "/subjects/s/versions/1/tags", {"metadata": {"properties": {"k": "v"}}}, 200, ...),
        ("GET", "/subjects/s/metadata?key=k&value=v", None, 200, ...),
        ("POST", "/compatibility/subjects/s/versions", INT, 200, {"is_compatible": True}),
        (
            "POST",
            "/compatibility/subjects/s/versions/latest?verbose=true",
            INT,
            200,
            {"is_compatible": True, "messages": []},
        ),
        ("GET", "/config", None, 200, {"compatibilityLevel": "BACKWARD"}),
        ("PUT", "/config", {"compatibility": "full"}, 200, {"compatibility": "FULL"}),
        ("DELETE", "/config", None, 200, {"compatibilityLevel": "FULL"}),
        ("PUT", "/config/s", {"normalize": True}, 200, {"normalize": True}),
        ("GET", "/config/s", None, 200, {"normalize": True, "compatibilityLevel": "BACKWARD"}),
        ("DELETE", "/config/s", None, 200, {"normalize": True, "compatibilityLevel": "BACKWARD"}),
        ("GET", "/settings", None, 200, ...),
        ("GET", "/console/api/subjects", None, 200, ...),
        ("GET", "/console/api/search", None, 200, ...),
        ("GET", "/console/api/subjects/s/versions", None, 200, ...),
        ("GET", "/console/api/subjects/s/referrers", None, 200, ...),
        ("GET", "/console/api/subjects/s/usage", None, 200, ...),
        ("GET", "/console/api/subjects/s/stakes", None, 200, ...),
        ("GET", "/console/api/contexts", None, 200, ...),
        ("GET", "/console/api/settings", None, 200, ...),
        ("GET", "/console/api/ids/1", None, 200, ...),
        ("GET", "/console/api/keks", None, 200, ...),
        ("GET", "/console/api/associations", None, 200, ...),
        ("POST", "/console/api/subjects/s/verdict", INT, 200, ...),
        ("GET", "/console/api/graph?subject=s", None, 200, ...),
        ("GET", "/console/api/caller", None, 200, ...),
        ("GET", "/console/api/in-force/s", None, 200, ...),
        ("GET", "/console/api/names", None, 200, ...),
        ("GET", "/console/api/subjects/s/fields/1", None, 200, ...),
        ("POST", "/console/api/decode", {"record": "00"}, 200, ...),
        ("GET", "/console/api/log", None, 200, ...),
        ("GET", "/console/api/regions", None, 404, ...),
        ("GET", "/console/api/regions/other", None, 404, ...),
        ("GET", KEYS, None, 404, ...),
        ("POST", KEYS, {"key": "k"}, 404, ...),
        ("GET", f"{KEYS}/k/use", None, 404, ...),
        ("POST", f"{KEYS}/k/rotate", {"formerSeconds": 0}, 404, ...),
        ("DELETE", f"{KEYS}/k", None, 404, ...),
        ("GET", "/mode", None, 200, {"mode": "READWRITE"}),
        ("PUT", "/mode", {"mode": "readonly"}, 200, {"mode": "readonly"}),
        ("DELETE", "/mode", None, 200, {"mode": "READONLY"}),
        ("PUT", "/mode/s", {"mode": "READONLY"}, 200, {"mode": "READONLY"}),
        ("GET", "/mode/s", None, 200, {"mode": "READONLY"}),
        ("DELETE", "/mode/s", None, 200, {"mode": "READONLY"}),
        ("DELETE", "/mode/s?recursive=true", None, 200, empty),
        ("GET", "/associations/subjects/s", None, 200, []),
        ("GET", "/associations/resources/lkc-1", None, 200, []),
        ("GET", "/associations/resources/-/orders", None, 200, []),
        ("POST", K, {"name": "k", "kmsType": "local-kms", "kmsKeyId": "id"}, 200, ...),
        ("GET", K, None, 200, ["k"]),
        ("GET", f"{K}/k", None, 200, ...),
        ("PUT", f"{K}/k", {"doc": "d"}, 200, ...),
        ("POST", f"{K}/k/test", None, 422, ...),
        ("POST", f"{K}/k/deks", {"subject": "s", "version": 2, "encryptedKeyMaterial": "m"}, 200, ...),
        ("POST", f"{K}/k/deks/s", {"encryptedKeyMaterial": "m"}, 200, ...),
        ("GET", f"{K}/k/deks", None, 200, ["s"]),
        ("GET", f"{K}/k/deks/s", None, 200, ...),
        ("GET", f"{K}/k/deks/s/versions", None, 200, [1, 2]),
        ("GET", f"{K}/k/deks/s/versions/latest", None, 200, ...),
        ("DELETE", f"{K}/k/deks/s/versions/1", None, 204, None),
        ("POST", f"{K}/k/deks/s/versions/1/undelete", None, 204, None),
        ("DELETE", f"{K}/k/deks/s", None, 204, None),
        ("POST", f"{K}/k/deks/s/undelete", None, 204, None),
        ("DELETE", f"{K}/k", None, 422, ...),
        ("POST", f"{K}/k/undelete", None, 204, None),
        ("POST", "/associations?dryRun=true", ORDERS_USE_S, 200, ...),
        ("PUT", "/associations/resources/lkc-1?dryRun=true", ORDERS_USE_S, 200, ...),
        ("DELETE", "/associations/resources/lkc-1", None, 404, ...),
        ("POST", "/associations:batchGet", {"requests": [{"resourceId": "lkc-1"}]}, 207, ...),
        ("POST", "/associations:batchMutate", {"requests": [{}]}, 207, ...),
        ("DELETE", "/subjects/s/versions/2", None, 200, 2),
        ("DELETE", "/subjects/s", None, 200, [1]),
        ("POST", X, {"name": "e", "config": {"schema.registry.url": "http://there"}}, 200, {"name": "e"}),
        ("GET", X, None, 200, ["e"]),
        ("GET", f"{X}/e", None, 200, ...),
        ("GET", f"{X}/e/config", None, 200, {"schema.registry.url": "http://there"}),
        ("GET", f"{X}/e/config/clusterlink", None, 200, empty),
        ("GET", f"{X}/e/status", None, 200, ...),
        ("PUT", f"{X}/e/pause", None, 200, {"name": "e"}),
        ("PUT", f"{X}/e", {"subjects": ["s"]}, 200, {"name": "e"}),
        ("PUT", f"{X}/e/config", {"schema.registry.url": "https://there"}, 200, {"name": "e"}),
        ("PUT", f"{X}/e/reset", None, 200, {"name": "e"}),
        ("PUT", f"{X}/e/resume", None, 200, {"name": "e"}),
        ("DELETE", f"{X}/e", None, 409, ...),
        ("GET", "/regions", None, 422, ...),
        ("PUT", "/regions/role", {"role": role_form(Role(1, RegionKind.PRIMARY))}, 422, ...),
        ("POST", "/regions/reach", {"url": "http://b"}, 422, ...),
        ("POST", "/regions/promote", {}, 422, ...),
        ("POST", "/regions/rejoin", {"url": "http://a"}, 422, ...),
        ("POST", "/regions/abandon", None, 422, ...),
        ("POST", "/regions/dismiss", {"follower": "b"}, 422, ...),
    ]
    for method, target, body, status, expected in walk:
        response = client(method, target, body)
        assert response.status == status, (method, target, response.body)
        assert expected is ... or (response.json if response.body else None) == expected
    walked = {
        Dispatch(ROUTES).find(method, target.partition("?")[0].encode()).route.name for method, target, *_ in walk
    }
    unwalked = {route.name for route in ROUTES} - walked - {"POST /subjects/{subject}/versions"}
    assert not unwalked, f"{unwalked}: add a step to the walk, with what it answers"
