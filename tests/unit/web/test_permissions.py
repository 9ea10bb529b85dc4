"""Every route × everybody, through every door: who may, who may not, what they see."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import pytest

from sigla.model import SchemaId
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.web.api.routes import ROUTES
from tests.unit.auth.guarded import DOORS, WHO, Ask, Guarded, Reply, cut, guarded


@dataclass(frozen=True)
class Row:
    """What is asked, and what everybody is answered, in the order of WHO.

    sees: what a success tells the unrestricted, those of `a-` and those of `z-`.
    """

    route: str
    target: str
    outcomes: tuple[int, ...]
    body: Any = None
    sees: tuple[Any, Any, Any] | None = None

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]


#              -    bad  read write admin  a: read write admin  z: read write admin
EVERYBODY = (200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200)
LIST      = (401, 401, 200, 200, 200, 200, 200, 200, 200, 200, 200)  # fmt: skip
READ_A    = (401, 401, 200, 200, 200, 200, 200, 200, 403, 403, 403)  # fmt: skip
READ_B    = (401, 401, 200, 200, 200, 403, 403, 403, 403, 403, 403)  # fmt: skip
ID_OF_A   = (401, 401, 200, 200, 200, 200, 200, 200, 404, 404, 404)  # fmt: skip
ID_OF_B   = (401, 401, 200, 200, 200, 404, 404, 404, 404, 404, 404)  # fmt: skip
WRITE_A   = (401, 401, 403, 200, 200, 403, 200, 200, 403, 403, 403)  # fmt: skip
ADMIN_A   = (401, 401, 403, 403, 200, 403, 403, 200, 403, 403, 403)  # fmt: skip
ADMIN_ALL = (401, 401, 403, 403, 200, 403, 403, 403, 403, 403, 403)  # fmt: skip
DROP_ALL  = (401, 401, 403, 403, 204, 403, 403, 403, 403, 403, 403)  # fmt: skip
WRITE_ANY = (401, 401, 403, 200, 200, 403, 200, 200, 403, 200, 200)  # fmt: skip
WRITE_ALL = (401, 401, 403, 200, 200, 403, 403, 403, 403, 403, 403)  # fmt: skip
NEW_ALONE = (401, 401, 403, 200, 200, 403, 409, 409, 403, 409, 409)  # fmt: skip
GONE_ALL  = (401, 401, 403, 204, 204, 403, 403, 403, 403, 403, 403)  # fmt: skip
GONE_A    = (401, 401, 403, 204, 204, 403, 204, 204, 403, 403, 403)  # fmt: skip
PURGE_A   = (401, 401, 403, 403, 204, 403, 403, 204, 403, 403, 403)  # fmt: skip
UNSHARED  = (401, 401, 403, 422, 422, 403, 403, 403, 403, 403, 403)  # fmt: skip

WRITE_B   = (401, 401, 403, 200, 200, 403, 403, 403, 403, 403, 403)  # fmt: skip
GONE_B    = (401, 401, 403, 204, 204, 403, 403, 403, 403, 403, 403)  # fmt: skip
CASCADE_A = (401, 401, 403, 403, 204, 403, 403, 204, 403, 403, 403)  # fmt: skip
BATCH_GET = (401, 401, 207, 207, 207, 207, 207, 207, 207, 207, 207)  # fmt: skip
BATCH     = (401, 401, 403, 207, 207, 403, 207, 207, 403, 207, 207)  # fmt: skip
BATCH_ADMIN = (401, 401, 403, 403, 207, 403, 403, 207, 403, 403, 207)  # fmt: skip

A = {"schema": '{"type":"record","name":"A","fields":[]}'}
B = {"schema": '{"type":"record","name":"B","fields":[]}'}
NEW_A = {"schema": '{"type":"record","name":"A","fields":[{"name":"f","type":"int","default":0}]}'}
NOTED = {"metadata": {"properties": {"owner": "Ada"}}}
EVERY = ["A-low", "a-low", "a-noted", "a-one", "a-ref", "a-shared", "b-one", "b-ref", "b-shared"]
OWN = ["a-low", "a-noted", "a-one", "a-ref", "a-shared"]
K = "/dek-registry/v1/keks"
KEK_ROUTE, DEK_ROUTE = f"{K}/{{kek}}", f"{K}/{{kek}}/deks/{{subject}}"
A_KEK = {"name": "new", "kmsType": "local-kms", "kmsKeyId": "id"}
A_DEK = {"encryptedKeyMaterial": "m"}
GUID_A, GUID_B = "{guid of A}", "{guid of B}"


TOPICS_OF_BOTH = {"requests": [{"resourceId": "id-a-topic"}, {"resourceId": "id-b-topic"}]}


def associated(subject: str, **operation: Any) -> dict[str, Any]:
    """A topic that is to use the subject."""
    topic = {"resourceName": f"{subject}-t", "resourceNamespace": "lkc"}
    wanted = [{"subject": subject, "lifecycle": "WEAK", **operation}]
    return {**topic, "associations": wanted} | ({} if operation else {"resourceId": "id-t"})


STRONG = {**associated("x"), "associations": [{"schema": A}]}
"""A topic with a subject of its own, `:.lkc:x-t-value`."""
OF_OTHERS = associated("a-one") | {"resourceName": "b-t"}
"""A topic of others, whose producers would write to another subject."""


def batch(*subjects: str, cascade: bool = False) -> dict[str, Any]:
    """A topic for each of the subjects, and one delete more of what is not there."""
    deleted = [{"opType": "DELETE", "associationType": "key", "cascadeLifecycle": cascade}] if cascade else []
    requests = [associated(subject, opType="CREATE") | {"resourceId": f"id-{subject}"} for subject in subjects]
    for request in requests:
        request["associations"] += deleted
    return {"requests": requests}


def versions_of(subjects: list[str]) -> list[dict[str, Any]]:
    return [{"subject": subject, "version": 1} for subject in subjects]


X = "/exporters"
AN_EXPORTER = {"name": "new", "config": {"schema.registry.url": "http://there"}}
READ_ALL = (401, 401, 200, 200, 200, 403, 403, 403, 403, 403, 403)

ROWS = (
    Row("GET /", "/", EVERYBODY),
    Row("POST /", "/", EVERYBODY, {}),
    Row("GET /v1/metadata/id", "/v1/metadata/id", EVERYBODY),
    Row("GET /v1/metadata/version", "/v1/metadata/version", EVERYBODY),
    Row("GET /v1/metadata/deployment", "/v1/metadata/deployment", EVERYBODY),
    Row("GET /zones", "/zones", EVERYBODY),
    Row("GET /contexts", "/contexts", LIST, sees=([".", ".team"], ["."], ["."])),
    Row("DELETE /contexts/{context}", "/contexts/.none", DROP_ALL),
    Row("GET /schemas", "/schemas", LIST, sees=(EVERY, OWN, [])),
    Row("GET /schemas/types", "/schemas/types", EVERYBODY),
    Row("GET /schemas/ids/{id}", "/schemas/ids/1", ID_OF_A),
    Row("GET /schemas/ids/{id}", "/schemas/ids/2", ID_OF_B),
    Row("GET /schemas/ids/{id}", "/schemas/ids/2?subject=b-one", READ_B),
    Row("GET /schemas/ids/{id}", "/schemas/ids/1?subject=:.team:", ID_OF_B),
    Row("GET /schemas/ids/{id}/schema", "/schemas/ids/1/schema", ID_OF_A),
    Row("GET /schemas/ids/{id}/schema", "/schemas/ids/2/schema", ID_OF_B),
    Row("GET /schemas/ids/{id}/subjects", "/schemas/ids/3/subjects", ID_OF_A,
        sees=(["a-shared", "b-shared"], ["a-shared"], None)),
    Row("GET /schemas/ids/{id}/versions", "/schemas/ids/3/versions", ID_OF_A,
        sees=(versions_of(["a-shared", "b-shared"]), versions_of(["a-shared"]), None)),
    Row("GET /schemas/ids/{id}/versions", "/schemas/ids/2/versions", ID_OF_B),
    Row("GET /schemas/guids/{guid}", f"/schemas/guids/{GUID_A}", ID_OF_A),
    Row("GET /schemas/guids/{guid}", f"/schemas/guids/{GUID_B}", ID_OF_B),
    Row("GET /schemas/guids/{guid}/ids", f"/schemas/guids/{GUID_A}/ids", LIST,
        sees=([{"context": ".", "id": 1}], [{"context": ".", "id": 1}], [])),
    Row("GET /subjects", "/subjects?subjectPrefix=", LIST, sees=(EVERY, OWN, [])),
    Row("GET /subjects", "/subjects", LIST, sees=([":.team:a-team", *EVERY], OWN, [])),
    Row("GET /subjects", "/subjects?offset=1&limit=2", LIST, sees=(["A-low", "a-low"], ["a-noted", "a-one"], [])),
    Row("GET /subjects", "/subjects?subjectPrefix=b", LIST, sees=(["b-one", "b-ref", "b-shared"], [], [])),
    Row("POST /subjects/{subject}", "/subjects/a-one", READ_A, A),
    Row("POST /subjects/{subject}", "/subjects/b-one", READ_B, B),
    Row("DELETE /subjects/{subject}", "/subjects/a-shared", WRITE_A),
    Row("DELETE /subjects/{subject}", "/subjects/a-gone?permanent=true", ADMIN_A),
    Row("GET /subjects/{subject}/metadata", "/subjects/a-noted/metadata?key=owner&value=Ada", READ_A),
    Row("GET /subjects/{subject}/versions", "/subjects/a-one/versions", READ_A),
    Row("GET /subjects/{subject}/versions", "/subjects/b-one/versions", READ_B),
    Row("GET /subjects/{subject}/versions", "/subjects/a-alias/versions", READ_A),
    Row("GET /subjects/{subject}/versions", "/subjects/a-out/versions", READ_B),
    Row("POST /subjects/{subject}/versions", "/subjects/a-new/versions", WRITE_A, A),
    Row("POST /subjects/{subject}/versions", "/subjects/a-new/versions?force=true", ADMIN_A, A),
    Row("GET /subjects/{subject}/versions/{version}", "/subjects/a-one/versions/1", READ_A),
    Row("GET /subjects/{subject}/versions/{version}", "/subjects/b-one/versions/latest", READ_B),
    Row("DELETE /subjects/{subject}/versions/{version}", "/subjects/a-shared/versions/1", WRITE_A),
    Row("DELETE /subjects/{subject}/versions/{version}", "/subjects/a-gone/versions/1?permanent=true", ADMIN_A),
    Row("GET /subjects/{subject}/versions/{version}/schema", "/subjects/a-one/versions/1/schema", READ_A),
    Row("GET /subjects/{subject}/versions/{version}/schema", "/subjects/b-one/versions/1/schema", READ_B),
    Row("GET /subjects/{subject}/versions/{version}/referencedby", "/subjects/a-one/versions/1/referencedby", READ_A,
        sees=([6, 7], [6], None)),
    Row("POST /subjects/{subject}/versions/{version}/tags", "/subjects/a-shared/versions/1/tags", WRITE_A, NOTED),
    Row("POST /compatibility/subjects/{subject}/versions", "/compatibility/subjects/a-one/versions", READ_A, NEW_A),
    Row("POST /compatibility/subjects/{subject}/versions", "/compatibility/subjects/b-one/versions", READ_B, B),
    Row("POST /compatibility/subjects/{subject}/versions/{version}", "/compatibility/subjects/a-one/versions/1", READ_A,
        NEW_A),
    Row("GET /config", "/config", LIST),
    Row("PUT /config", "/config", ADMIN_ALL, {"compatibility": "FULL"}),
    Row("DELETE /config", "/config", ADMIN_ALL),
    Row("GET /config/{subject}", "/config/a-one", READ_A),
    Row("GET /config/{subject}", "/config/b-one?defaultToGlobal=true", READ_B),
    Row("GET /config/{subject}", "/config/:.__GLOBAL:", LIST),
    Row("GET /config/{subject}", "/config/:.team:?defaultToGlobal=true", READ_B),
    Row("PUT /config/{subject}", "/config/a-one", ADMIN_A, {"compatibility": "NONE"}),
    Row("PUT /config/{subject}", "/config/a-more", ADMIN_A, {"alias": "a-one"}),
    Row("PUT /config/{subject}", "/config/a-more", ADMIN_ALL, {"alias": "b-one"}),
    Row("PUT /config/{subject}", "/config/:.__GLOBAL:", ADMIN_ALL, {"compatibility": "NONE"}),
    Row("PUT /config/{subject}", "/config/:.team:", ADMIN_ALL, {"compatibility": "NONE"}),
    Row("DELETE /config/{subject}", "/config/a-one", ADMIN_A),
    Row("GET /mode", "/mode", LIST),
    Row("PUT /mode", "/mode", ADMIN_ALL, {"mode": "READONLY"}),
    Row("DELETE /mode", "/mode", ADMIN_ALL),
    Row("GET /mode/{subject}", "/mode/a-one", READ_A),
    Row("GET /mode/{subject}", "/mode/b-one?defaultToGlobal=true", READ_B),
    Row("PUT /mode/{subject}", "/mode/a-one", ADMIN_A, {"mode": "READONLY"}),
    Row("DELETE /mode/{subject}", "/mode/a-one", ADMIN_A),
    Row("DELETE /mode/{subject}", "/mode/:.team:?recursive=true", ADMIN_ALL),
    Row(f"GET {X}", X, READ_ALL, sees=(["paused", "running"], None, None)),
    Row(f"POST {X}", X, ADMIN_ALL, AN_EXPORTER),
    Row(f"GET {X}/{{exporter}}", f"{X}/running", READ_ALL),
    Row(f"PUT {X}/{{exporter}}", f"{X}/paused", ADMIN_ALL, {"subjects": ["a-*"]}),
    Row(f"DELETE {X}/{{exporter}}", f"{X}/paused", DROP_ALL),
    Row(f"GET {X}/{{exporter}}/config", f"{X}/running/config", READ_ALL),
    Row(f"PUT {X}/{{exporter}}/config", f"{X}/paused/config", ADMIN_ALL, AN_EXPORTER["config"]),
    Row(f"GET {X}/{{exporter}}/config/clusterlink", f"{X}/running/config/clusterlink", READ_ALL, sees=({}, None, None)),
    Row(f"GET {X}/{{exporter}}/status", f"{X}/running/status", READ_ALL),
    Row(f"PUT {X}/{{exporter}}/pause", f"{X}/running/pause", ADMIN_ALL),
    Row(f"PUT {X}/{{exporter}}/resume", f"{X}/paused/resume", ADMIN_ALL),
    Row(f"PUT {X}/{{exporter}}/reset", f"{X}/paused/reset", ADMIN_ALL),
    Row(f"GET {K}", K, LIST, sees=(["k", "kb", "unused"], ["k"], [])),
    Row(f"GET {K}", f"{K}?subjectPrefix=b", LIST, sees=(["k", "kb"], [], [])),
    Row(f"POST {K}", K, WRITE_ANY, A_KEK),
    Row(f"POST {K}", K, NEW_ALONE, A_KEK | {"name": "gone"}),
    Row(f"GET {KEK_ROUTE}", f"{K}/kb", LIST),
    Row(f"PUT {KEK_ROUTE}", f"{K}/k", WRITE_ALL, {"doc": "d"}),
    Row(f"DELETE {KEK_ROUTE}", f"{K}/unused", GONE_ALL),
    Row(f"DELETE {KEK_ROUTE}", f"{K}/gone?permanent=true", DROP_ALL),
    Row(f"POST {KEK_ROUTE}/undelete", f"{K}/gone/undelete", GONE_ALL),
    Row(f"POST {KEK_ROUTE}/test", f"{K}/k/test", UNSHARED),
    Row(f"GET {KEK_ROUTE}/deks", f"{K}/k/deks", LIST, sees=(["a-one", "b-one"], ["a-one"], [])),
    Row(f"POST {KEK_ROUTE}/deks", f"{K}/k/deks", WRITE_A, A_DEK | {"subject": "a-new"}),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/a-one", READ_A),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/b-one", READ_B),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/a-alias", READ_A),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/a-out", READ_B),
    Row(f"POST {DEK_ROUTE}", f"{K}/k/deks/a-new", WRITE_A, A_DEK),
    Row(f"DELETE {DEK_ROUTE}", f"{K}/k/deks/a-one", GONE_A),
    Row(f"DELETE {DEK_ROUTE}", f"{K}/k/deks/a-gone?permanent=true", PURGE_A),
    Row(f"POST {DEK_ROUTE}/undelete", f"{K}/k/deks/a-gone/undelete", GONE_A),
    Row(f"GET {DEK_ROUTE}/versions", f"{K}/k/deks/a-one/versions", READ_A, sees=([1], [1], None)),
    Row(f"GET {DEK_ROUTE}/versions/{{version}}", f"{K}/k/deks/a-one/versions/1", READ_A),
    Row(f"DELETE {DEK_ROUTE}/versions/{{version}}", f"{K}/k/deks/a-one/versions/1", GONE_A),
    Row(f"DELETE {DEK_ROUTE}/versions/{{version}}", f"{K}/k/deks/a-gone/versions/1?permanent=true", PURGE_A),
    Row(f"POST {DEK_ROUTE}/versions/{{version}}/undelete", f"{K}/k/deks/a-gone/versions/1/undelete", GONE_A),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/a-one", READ_A, sees=([], [], None)),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/b-one", READ_B),
    Row("GET /associations/resources/{resource}", "/associations/resources/lkc-1", LIST, sees=([], [], [])),
    Row("GET /associations/resources/{namespace}/{resource}", "/associations/resources/-/orders", LIST,
        sees=([], [], [])),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/a-noted", READ_A,
        sees=(["a-noted"], ["a-noted"], None)),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/b-shared", READ_B),
    Row("GET /associations/resources/{resource}", "/associations/resources/id-a-topic", LIST,
        sees=(["a-noted"], ["a-noted"], [])),
    Row("GET /associations/resources/{resource}", "/associations/resources/id-b-topic", LIST,
        sees=(["b-shared"], [], [])),
    Row("GET /associations/resources/{namespace}/{resource}", "/associations/resources/-/-", LIST,
        sees=(["a-noted", "b-shared"], ["a-noted"], [])),
    Row("GET /schemas", "/schemas?lifecycle=WEAK", LIST, sees=(["a-noted", "b-shared"], ["a-noted"], [])),
    Row("POST /associations", "/associations", WRITE_A, associated("a-one")),
    Row("POST /associations", "/associations", WRITE_B, associated("b-one")),
    Row("POST /associations", "/associations", WRITE_B, STRONG),
    Row("POST /associations", "/associations", WRITE_B, OF_OTHERS),
    Row("PUT /associations/resources/{resource}", "/associations/resources/id-t", WRITE_A, associated("a-one")),
    Row("PUT /associations/resources/{resource}", "/associations/resources/id-t", WRITE_B, associated("a-out")),
    Row("DELETE /associations/resources/{resource}", "/associations/resources/id-a-topic", GONE_A),
    Row("DELETE /associations/resources/{resource}", "/associations/resources/id-b-topic", GONE_B),
    Row("DELETE /associations/resources/{resource}", "/associations/resources/id-a-topic?cascadeLifecycle=true",
        CASCADE_A),
    Row("POST /associations:batchGet", "/associations:batchGet?includeSchemas=true", BATCH_GET, TOPICS_OF_BOTH,
        sees=([["a-noted"], ["b-shared"]], [["a-noted"], []], [[], []])),
    Row("POST /associations:batchMutate", "/associations:batchMutate", BATCH, batch("a-one", "b-one"),
        sees=([200, 200], [200, 40301], [40301, 40301])),
    Row("POST /associations:batchMutate", "/associations:batchMutate", BATCH_ADMIN, batch("a-one", cascade=True)),
)  # fmt: skip


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[EmbeddedKeys, Mapping[str, str]]:
    return cut(tmp_path_factory.mktemp("keys"))


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Any:
    return DOORS[request.param]


@pytest.fixture
def world(keys: tuple[EmbeddedKeys, Mapping[str, str]]) -> Iterator[Guarded]:
    with guarded(*keys) as world:
        yield world


class Unchanged:
    """A filled world behind a door: the same one until a request has changed it, then another."""

    def __init__(self, keys: tuple[EmbeddedKeys, Mapping[str, str]], door: Callable[[Guarded], Any]) -> None:
        self._keys = keys
        self._door = door
        self._opened = ExitStack()
        self._world: tuple[Guarded, Ask] | None = None

    def __call__(self) -> tuple[Guarded, Ask]:
        if self._world and self._world[0].commits:
            self.close()
        if not self._world:
            world = self._opened.enter_context(guarded(*self._keys))
            self._world = world, self._opened.enter_context(self._door(world))
        return self._world

    def close(self) -> None:
        self._world = None
        self._opened.close()


@pytest.fixture(scope="module", params=DOORS)
def unchanged(keys: tuple[EmbeddedKeys, Mapping[str, str]], request: pytest.FixtureRequest) -> Iterator[Unchanged]:
    with closing(Unchanged(keys, DOORS[request.param])) as made:
        yield made


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_who_may_who_may_not_and_what_they_see(unchanged: Unchanged, row: Row) -> None:
    """A success changes things for the next one: then the world is made anew."""
    for who, outcome in zip(WHO, row.outcomes, strict=True):
        world, ask = unchanged()
        reply = ask(who, row.method, prepared(world, row.target), row.body)
        assert reply.status == outcome, (who, reply)
        assert outcome < 400 or not world.commits, f"{who} was refused, and changed something"
        assert world.authors() <= {who}, f"{who} changed something, and the journal names another"
        judge(row, who, reply)


def prepared(world: Guarded, target: str) -> str:
    """The target with the GUIDs filled in."""
    for guid, id in ((GUID_A, SchemaId(1)), (GUID_B, SchemaId(2))):
        if guid in target:
            target = target.replace(guid, str(world.registry.schema_by_id(id).guid))
    return target


def judge(row: Row, who: str, reply: Reply) -> None:
    """A refusal is JSON with a number and a sentence; every principal sees its own part of a list."""
    if reply.status == 401:
        assert reply.json == {"error_code": 401, "message": "Unauthorized"}
        assert reply.headers["www-authenticate"] == 'Basic realm="schema registry"'
    elif reply.status == 403:
        assert reply.json["error_code"] == 40301
        assert reply.json["message"].startswith("User is denied operation ")
    elif reply.status == 404:
        assert reply.json["error_code"] == 40403
    elif row.sees:
        seen = reply.json
        if row.route == "GET /schemas" or row.route.startswith("GET /associations"):
            seen = [each["subject"] for each in seen]
        if row.route == "POST /associations:batchGet":
            seen = [[one["subject"] for one in each["result"].get("associations", ())] for each in seen["results"]]
        if row.route == "POST /associations:batchMutate":
            seen = [each.get("error", {"error_code": 200})["error_code"] for each in seen["results"]]
        assert seen == row.sees[("a", "z").index(who[-1]) + 1 if "-of-" in who else 0], who
    if reply.status >= 400:
        assert reply.headers["content-type"] == "application/vnd.schemaregistry.v1+json"


def test_every_route_has_its_row() -> None:
    """A new route without one would be a route about which nothing was decided."""
    rows, routes = {row.route for row in ROWS}, {route.name for route in ROUTES}
    assert rows >= routes, f"{routes - rows}: add a row to ROWS, with what each key sees of it"
    assert rows <= routes, f"{rows - routes}: ROWS has what is not a route"


def test_every_flag_that_asks_for_more_has_its_row() -> None:
    for route in ROUTES:
        for query in route.query:
            if query.access is not None:
                assert any(row.route == route.name and f"{query.name}=true" in row.target for row in ROWS), query


def test_a_wrong_path_is_wrong_for_everybody(door: Any, world: Guarded) -> None:
    """What is not there needs no key; what is there does not tell strangers what it is."""
    with door(world) as ask:
        assert ask("nobody", "GET", "/nope").status == 404
        assert ask("nobody", "PATCH", "/subjects").status == 405
        assert ask("nobody", "POST", "/subjects/a-one/versions", "no object").status == 401
