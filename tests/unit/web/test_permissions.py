"""Every route × everybody: who may, who may not, what they see."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from sigla.auth.permissions import ADMIN, DELETE, OPEN, Access
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.wire import role_form
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES
from tests.unit.auth.guarded import (
    DOORS,
    EVERYWHERE,
    GUID_A,
    GUID_B,
    PREFIXES,
    WHO,
    Guarded,
    Reply,
    Unchanged,
    Who,
    cut,
    guarded,
    prepared,
)


@dataclass(frozen=True)
class Place:
    """Where a target lies. reaches: those it is inside of; hidden: what all others with a reach are answered."""

    reaches: frozenset[str] = frozenset()
    hidden: int = 403


ANYWHERE = Place(frozenset(PREFIXES))
IN_A = Place(frozenset({"a"}))
IN_TEAM = Place(frozenset({"team"}))
OUTSIDE = Place()
"""Inside of no prefix, so for those without prefixes alone: the subjects of b, and what is the whole registry's."""
ID_OF_A = Place(frozenset({"a"}), hidden=404)
ID_OF_B = Place(hidden=404)
ID_OF_TEAM = Place(frozenset({"team"}), hidden=404)
TAKEN = Place(hidden=409)


@dataclass(frozen=True)
class Row:
    """What is asked. What everybody is answered follows: from the route's row in ROUTES, and from the place.

    success: its status. sees: what a success tells those who reach everything, those of `a-` and those of `z-`.
    team: what it tells those of the context `.team`, where that is not the same as for `z-`. asks: what the request
    asks for, where its body says so and not its path.
    """

    route: str
    target: str
    place: Place
    body: Any = None
    sees: tuple[Any, Any, Any] | None = None
    success: int = 200
    team: Any = None
    asks: Access | None = None

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    @property
    def access(self) -> Access:
        return self.asks or asked(ROUTES_BY_NAME[self.route], self.target)

    def outcome(self, who: Who) -> int:
        if self.access is OPEN:
            return self.success
        if not who.kind:
            return 401
        if self.access not in who.may:
            return 403
        return self.success if self.is_inside(who) else self.place.hidden

    def is_inside(self, who: Who) -> bool:
        return who.reach in (EVERYWHERE, *self.place.reaches)

    def seen_by(self, who: Who) -> Any:
        assert self.sees
        if who.reach == "team" and self.team is not None:
            return self.team
        return self.sees[("", "a").index(who.reach) if who.reach in ("", "a") else 2]


ROUTES_BY_NAME = {route.name: route for route in ROUTES}


def asked(route: Route, target: str) -> Access:
    """What the route asks for, or a flag of the target."""
    flagged = [query.access for query in route.query if query.access and f"{query.name}=true" in target]
    return flagged[0] if flagged else route.access


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
TEAM = ":.team:a-team"


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


def batch(*subjects: str, delete: bool = False, cascade: bool = False) -> dict[str, Any]:
    """A topic for each of the subjects; delete: and one delete more of what is not there."""
    deleted = [{"opType": "DELETE", "associationType": "key", "cascadeLifecycle": cascade}] if delete else []
    requests = [associated(subject, opType="CREATE") | {"resourceId": f"id-{subject}"} for subject in subjects]
    for request in requests:
        request["associations"] += deleted
    return {"requests": requests}


def versions_of(subjects: list[str]) -> list[dict[str, Any]]:
    return [{"subject": subject, "version": 1} for subject in subjects]


X = "/exporters"
AN_EXPORTER = {"name": "new", "config": {"schema.registry.url": "http://there"}}

KEYS_ROUTE = "/console/api/keys"
VERSION_PART = "GET /console/api/subjects/{subject}/versions"
REFERRERS = "GET /console/api/subjects/{subject}/referrers"
USAGE_PART = "GET /console/api/subjects/{subject}/usage"
IN_FORCE = "GET /console/api/in-force/{subject}"
STAKES = "GET /console/api/subjects/{subject}/stakes"
FIELDS = "GET /console/api/subjects/{subject}/fields/{version}"
VERDICT = "POST /console/api/subjects/{subject}/verdict"

ROWS = (
    Row("GET /", "/", ANYWHERE),
    Row("POST /", "/", ANYWHERE, {}),
    Row("GET /v1/metadata/id", "/v1/metadata/id", ANYWHERE),
    Row("GET /v1/metadata/version", "/v1/metadata/version", ANYWHERE),
    Row("GET /v1/metadata/deployment", "/v1/metadata/deployment", ANYWHERE),
    Row("GET /zones", "/zones", ANYWHERE),
    Row("GET /contexts", "/contexts", ANYWHERE, sees=([".", ".team"], ["."], ["."]), team=[".", ".team"]),
    Row("DELETE /contexts/{context}", "/contexts/.none", OUTSIDE, success=204),
    Row("DELETE /contexts/{context}", "/contexts/.team", IN_TEAM, success=422),
    Row("GET /schemas", "/schemas", ANYWHERE, sees=(EVERY, OWN, [])),
    Row("GET /schemas/types", "/schemas/types", ANYWHERE),
    Row("GET /schemas/ids/{id}", "/schemas/ids/1", ID_OF_A),
    Row("GET /schemas/ids/{id}", "/schemas/ids/2", ID_OF_B),
    Row("GET /schemas/ids/{id}", "/schemas/ids/2?subject=b-one", OUTSIDE),
    Row("GET /schemas/ids/{id}", "/schemas/ids/1?subject=:.team:", ID_OF_TEAM),
    Row("GET /schemas/ids/{id}/schema", "/schemas/ids/1/schema", ID_OF_A),
    Row("GET /schemas/ids/{id}/schema", "/schemas/ids/2/schema", ID_OF_B),
    Row("GET /schemas/ids/{id}/subjects", "/schemas/ids/3/subjects", ID_OF_A,
        sees=(["a-shared", "b-shared"], ["a-shared"], None)),
    Row("GET /schemas/ids/{id}/versions", "/schemas/ids/3/versions", ID_OF_A,
        sees=(versions_of(["a-shared", "b-shared"]), versions_of(["a-shared"]), None)),
    Row("GET /schemas/ids/{id}/versions", "/schemas/ids/2/versions", ID_OF_B),
    Row("GET /schemas/guids", f"/schemas/guids?guids={GUID_A},{GUID_B}", ANYWHERE,
        sees=(["a-one", "b-one"], ["a-one"], [])),
    Row("GET /schemas/guids/{guid}", f"/schemas/guids/{GUID_A}", ID_OF_A),
    Row("GET /schemas/guids/{guid}", f"/schemas/guids/{GUID_B}", ID_OF_B),
    Row("GET /schemas/guids/{guid}/ids", f"/schemas/guids/{GUID_A}/ids", ANYWHERE,
        sees=([{"context": ".", "id": 1}], [{"context": ".", "id": 1}], [])),
    Row("GET /subjects", "/subjects?subjectPrefix=", ANYWHERE, sees=(EVERY, OWN, [])),
    Row("GET /subjects", "/subjects", ANYWHERE, sees=([":.team:a-team", *EVERY], OWN, []), team=[":.team:a-team"]),
    Row("GET /subjects", "/subjects?offset=1&limit=2", ANYWHERE, sees=(["A-low", "a-low"], ["a-noted", "a-one"], [])),
    Row("GET /subjects", "/subjects?subjectPrefix=b", ANYWHERE, sees=(["b-one", "b-ref", "b-shared"], [], [])),
    Row("POST /subjects/{subject}", "/subjects/a-one", IN_A, A),
    Row("POST /subjects/{subject}", "/subjects/b-one", OUTSIDE, B),
    Row("DELETE /subjects/{subject}", "/subjects/a-shared", IN_A),
    Row("DELETE /subjects/{subject}", "/subjects/a-gone?permanent=true", IN_A),
    Row("GET /subjects/{subject}/metadata", "/subjects/a-noted/metadata?key=owner&value=Ada", IN_A),
    Row("GET /subjects/{subject}/history", "/subjects/a-one/history", IN_A),
    Row("GET /subjects/{subject}/history", "/subjects/b-one/history", OUTSIDE),
    Row("GET /subjects/{subject}/history", "/subjects/a-alias/history", IN_A),
    Row("GET /subjects/{subject}/history", "/subjects/a-out/history", OUTSIDE),
    Row("GET /subjects/{subject}/history", f"/subjects/{TEAM}/history", IN_TEAM),
    Row("GET /subjects/{subject}/usage", "/subjects/a-one/usage", IN_A),
    Row("GET /subjects/{subject}/usage", "/subjects/b-one/usage", OUTSIDE),
    Row("GET /subjects/{subject}/usage", "/subjects/a-alias/usage", IN_A),
    Row("GET /subjects/{subject}/usage", "/subjects/a-out/usage", OUTSIDE),
    Row("GET /subjects/{subject}/usage", f"/subjects/{TEAM}/usage?version=latest", IN_TEAM),
    Row("GET /subjects/{subject}/diff/{old}/{new}", "/subjects/a-one/diff/1/latest", IN_A),
    Row("GET /subjects/{subject}/diff/{old}/{new}", "/subjects/b-one/diff/1/latest", OUTSIDE),
    Row("GET /subjects/{subject}/diff/{old}/{new}", "/subjects/a-out/diff/1/1", OUTSIDE),
    Row("GET /subjects/{subject}/diff/{old}/{new}", f"/subjects/{TEAM}/diff/1/1", IN_TEAM),
    Row("GET /subjects/{subject}/versions", "/subjects/a-one/versions", IN_A),
    Row("GET /subjects/{subject}/versions", "/subjects/b-one/versions", OUTSIDE),
    Row("GET /subjects/{subject}/versions", "/subjects/a-alias/versions", IN_A),
    Row("GET /subjects/{subject}/versions", "/subjects/a-out/versions", OUTSIDE),
    Row("GET /subjects/{subject}/versions", f"/subjects/{TEAM}/versions", IN_TEAM),
    Row("POST /subjects/{subject}/versions", "/subjects/a-new/versions", IN_A, A),
    Row("POST /subjects/{subject}/versions", "/subjects/:.team:new/versions", IN_TEAM, A),
    Row("DELETE /subjects/{subject}", f"/subjects/{TEAM}", IN_TEAM),
    Row("PUT /mode/{subject}", "/mode/:.team:", IN_TEAM, {"mode": "READONLY"}),
    Row("POST /subjects/{subject}/versions", "/subjects/a-new/versions?force=true", IN_A, A),
    Row("GET /subjects/{subject}/versions/{version}", "/subjects/a-one/versions/1", IN_A),
    Row("GET /subjects/{subject}/versions/{version}", "/subjects/b-one/versions/latest", OUTSIDE),
    Row("DELETE /subjects/{subject}/versions/{version}", "/subjects/a-shared/versions/1", IN_A),
    Row("DELETE /subjects/{subject}/versions/{version}", "/subjects/a-gone/versions/1?permanent=true", IN_A),
    Row("GET /subjects/{subject}/versions/{version}/schema", "/subjects/a-one/versions/1/schema", IN_A),
    Row("GET /subjects/{subject}/versions/{version}/schema", "/subjects/b-one/versions/1/schema", OUTSIDE),
    Row("GET /subjects/{subject}/versions/{version}/referencedby", "/subjects/a-one/versions/1/referencedby", IN_A,
        sees=([6, 7], [6], None)),
    Row("POST /subjects/{subject}/versions/{version}/tags", "/subjects/a-shared/versions/1/tags", IN_A, NOTED),
    Row("POST /compatibility/subjects/{subject}/versions", "/compatibility/subjects/a-one/versions", IN_A, NEW_A),
    Row("POST /compatibility/subjects/{subject}/versions", "/compatibility/subjects/b-one/versions", OUTSIDE, B),
    Row("POST /compatibility/subjects/{subject}/versions/{version}", "/compatibility/subjects/a-one/versions/1", IN_A,
        NEW_A),
    Row("GET /config", "/config", ANYWHERE),
    Row("PUT /config", "/config", OUTSIDE, {"compatibility": "FULL"}),
    Row("DELETE /config", "/config", OUTSIDE),
    Row("GET /config/{subject}", "/config/a-one", IN_A),
    Row("GET /config/{subject}", "/config/b-one?defaultToGlobal=true", OUTSIDE),
    Row("GET /config/{subject}", "/config/:.__GLOBAL:", ANYWHERE),
    Row("GET /config/{subject}", "/config/:.team:?defaultToGlobal=true", IN_TEAM),
    Row(IN_FORCE, "/console/api/in-force/a-one", IN_A),
    Row(IN_FORCE, "/console/api/in-force/a-out", IN_A),
    Row(IN_FORCE, "/console/api/in-force/b-one", OUTSIDE),
    Row(IN_FORCE, "/console/api/in-force/:.:", ANYWHERE),
    Row(IN_FORCE, "/console/api/in-force/:.__GLOBAL:", ANYWHERE),
    Row(IN_FORCE, "/console/api/in-force/:.team:", IN_TEAM),
    Row("PUT /config/{subject}", "/config/a-one", IN_A, {"compatibility": "NONE"}),
    Row("PUT /config/{subject}", "/config/a-more", IN_A, {"alias": "a-one"}),
    Row("PUT /config/{subject}", "/config/a-more", OUTSIDE, {"alias": "b-one"}),
    Row("PUT /config/{subject}", "/config/a-more", IN_A, {"aliasForDeks": "a-one"}),
    Row("PUT /config/{subject}", "/config/a-more", OUTSIDE, {"aliasForDeks": "b-one"}),
    Row("PUT /config/{subject}", "/config/:.__GLOBAL:", OUTSIDE, {"compatibility": "NONE"}),
    Row("PUT /config/{subject}", "/config/:.team:", IN_TEAM, {"compatibility": "NONE"}),
    Row("DELETE /config/{subject}", "/config/a-one", IN_A),
    Row("GET /settings", "/settings", ANYWHERE),
    Row("GET /console/api/subjects", "/console/api/subjects", ANYWHERE, sees=([TEAM, *EVERY], OWN, []), team=[TEAM]),
    Row("GET /console/api/subjects", "/console/api/subjects?contains=ONE&type=AVRO", ANYWHERE,
        sees=(["a-one", "b-one"], ["a-one"], [])),
    Row("GET /console/api/search", "/console/api/search", ANYWHERE, sees=([TEAM, *EVERY], OWN, []), team=[TEAM]),
    Row("GET /console/api/search", "/console/api/search?contains=ONE&type=AVRO", ANYWHERE,
        sees=(["a-one", "b-one"], ["a-one"], [])),
    Row(VERSION_PART, "/console/api/subjects/a-one/versions", IN_A),
    Row(VERSION_PART, "/console/api/subjects/b-one/versions", OUTSIDE),
    Row(VERSION_PART, "/console/api/subjects/a-out/versions", OUTSIDE),
    Row(USAGE_PART, "/console/api/subjects/a-one/usage", IN_A),
    Row(USAGE_PART, "/console/api/subjects/b-one/usage", OUTSIDE),
    Row(USAGE_PART, "/console/api/subjects/a-out/usage", OUTSIDE),
    Row("GET /console/api/names", "/console/api/names?token=p0", ANYWHERE),
    Row(STAKES, "/console/api/subjects/a-one/stakes", IN_A),
    Row(STAKES, "/console/api/subjects/a-one/stakes?version=1", IN_A),
    Row(STAKES, "/console/api/subjects/b-one/stakes", OUTSIDE),
    Row(STAKES, "/console/api/subjects/a-out/stakes", OUTSIDE),
    Row(REFERRERS, "/console/api/subjects/a-one/referrers", IN_A),
    Row(REFERRERS, "/console/api/subjects/b-one/referrers", OUTSIDE),
    Row(REFERRERS, "/console/api/subjects/a-out/referrers", OUTSIDE),
    Row("GET /console/api/contexts", "/console/api/contexts", ANYWHERE, sees=([".", ".team"], ["."], ["."]),
        team=[".", ".team"]),
    Row("GET /console/api/settings", "/console/api/settings", ANYWHERE),
    Row("GET /console/api/ids/{id}", "/console/api/ids/3", ID_OF_A,
        sees=(["a-shared", "b-shared"], ["a-shared"], None)),
    Row("GET /console/api/ids/{id}", "/console/api/ids/2", ID_OF_B),
    Row("GET /console/api/keks", "/console/api/keks", ANYWHERE, sees=(["gone", "k", "kb", "unused"], ["k"], [])),
    Row("GET /console/api/associations", "/console/api/associations", ANYWHERE,
        sees=(["a-noted", "b-shared"], ["a-noted"], [])),
    Row(VERDICT, "/console/api/subjects/a-one/verdict", IN_A, NEW_A),
    Row(VERDICT, "/console/api/subjects/b-one/verdict", OUTSIDE, B),
    Row(VERDICT, "/console/api/subjects/a-out/verdict", OUTSIDE, NEW_A),
    Row("GET /console/api/graph", "/console/api/graph?subject=a-one", IN_A),
    Row("GET /console/api/graph", "/console/api/graph?subject=b-one", OUTSIDE),
    Row("GET /console/api/graph", "/console/api/graph?subject=a-out", OUTSIDE),
    Row("GET /console/api/graph", f"/console/api/graph?subject={TEAM}", IN_TEAM),
    Row("GET /console/api/caller", "/console/api/caller", ANYWHERE),
    Row(FIELDS, "/console/api/subjects/a-one/fields/1", IN_A),
    Row(FIELDS, "/console/api/subjects/b-one/fields/1", OUTSIDE),
    Row(FIELDS, "/console/api/subjects/a-out/fields/1", OUTSIDE),
    Row("POST /console/api/decode", "/console/api/decode", ANYWHERE, {"record": "00"}),
    Row("GET /console/api/log", "/console/api/log", OUTSIDE),
    Row("GET /console/api/regions", "/console/api/regions", OUTSIDE, success=404),
    Row("GET /console/api/regions/other", "/console/api/regions/other", OUTSIDE, success=404),
    Row(f"GET {KEYS_ROUTE}", KEYS_ROUTE, OUTSIDE),
    Row(f"POST {KEYS_ROUTE}", KEYS_ROUTE, OUTSIDE, {"key": "new", "role": "admin"}),
    Row(f"GET {KEYS_ROUTE}/{{key}}/use", f"{KEYS_ROUTE}/old/use", OUTSIDE),
    Row(f"POST {KEYS_ROUTE}/{{key}}/rotate", f"{KEYS_ROUTE}/old/rotate", OUTSIDE, {"formerSeconds": 60}),
    Row(f"DELETE {KEYS_ROUTE}/{{key}}", f"{KEYS_ROUTE}/old", OUTSIDE),
    Row("GET /mode", "/mode", ANYWHERE),
    Row("PUT /mode", "/mode", OUTSIDE, {"mode": "READONLY"}),
    Row("DELETE /mode", "/mode", OUTSIDE),
    Row("GET /mode/{subject}", "/mode/a-one", IN_A),
    Row("GET /mode/{subject}", "/mode/b-one?defaultToGlobal=true", OUTSIDE),
    Row("PUT /mode/{subject}", "/mode/a-one", IN_A, {"mode": "READONLY"}),
    Row("DELETE /mode/{subject}", "/mode/a-one", IN_A),
    Row("DELETE /mode/{subject}", "/mode/:.team:?recursive=true", IN_TEAM),
    Row(f"GET {X}", X, OUTSIDE, sees=(["paused", "running"], None, None)),
    Row(f"POST {X}", X, OUTSIDE, AN_EXPORTER),
    Row(f"GET {X}/{{exporter}}", f"{X}/running", OUTSIDE),
    Row(f"PUT {X}/{{exporter}}", f"{X}/paused", OUTSIDE, {"subjects": ["a-*"]}),
    Row(f"DELETE {X}/{{exporter}}", f"{X}/paused", OUTSIDE, success=204),
    Row(f"GET {X}/{{exporter}}/config", f"{X}/running/config", OUTSIDE),
    Row(f"PUT {X}/{{exporter}}/config", f"{X}/paused/config", OUTSIDE, AN_EXPORTER["config"]),
    Row(f"GET {X}/{{exporter}}/config/clusterlink", f"{X}/running/config/clusterlink", OUTSIDE, sees=({}, None, None)),
    Row(f"GET {X}/{{exporter}}/status", f"{X}/running/status", OUTSIDE),
    Row(f"PUT {X}/{{exporter}}/pause", f"{X}/running/pause", OUTSIDE),
    Row(f"PUT {X}/{{exporter}}/resume", f"{X}/paused/resume", OUTSIDE),
    Row(f"PUT {X}/{{exporter}}/reset", f"{X}/paused/reset", OUTSIDE),
    *(
        Row(route, route.partition(" ")[2], OUTSIDE, body, success=422)
        for route, body in (
            ("GET /regions", None),
            ("PUT /regions/role", {"role": role_form(Role(1, RegionKind.PRIMARY))}),
            ("POST /regions/reach", {"url": "http://b"}),
            ("POST /regions/promote", {}),
            ("POST /regions/rejoin", {"url": "http://a"}),
            ("POST /regions/abandon", None),
            ("POST /regions/dismiss", {"follower": "b"}),
        )
    ),
    Row(f"GET {K}", K, ANYWHERE, sees=(["k", "kb", "unused"], ["k"], [])),
    Row(f"GET {K}", f"{K}?subjectPrefix=b", ANYWHERE, sees=(["k", "kb"], [], [])),
    Row(f"POST {K}", K, ANYWHERE, A_KEK),
    Row(f"POST {K}", K, TAKEN, A_KEK | {"name": "gone"}),
    Row(f"POST {K}", K, TAKEN, A_KEK | {"name": "unused", "deleted": True}, asks=DELETE),
    Row(f"GET {KEK_ROUTE}", f"{K}/kb", ANYWHERE),
    Row(f"PUT {KEK_ROUTE}", f"{K}/k", OUTSIDE, {"doc": "d"}),
    Row(f"DELETE {KEK_ROUTE}", f"{K}/unused", OUTSIDE, success=204),
    Row(f"DELETE {KEK_ROUTE}", f"{K}/gone?permanent=true", OUTSIDE, success=204),
    Row(f"POST {KEK_ROUTE}/undelete", f"{K}/gone/undelete", OUTSIDE, success=204),
    Row(f"POST {KEK_ROUTE}/test", f"{K}/k/test", OUTSIDE, success=422),
    Row(f"GET {KEK_ROUTE}/deks", f"{K}/k/deks", ANYWHERE, sees=(["a-one", "b-one"], ["a-one"], [])),
    Row(f"POST {KEK_ROUTE}/deks", f"{K}/k/deks", IN_A, A_DEK | {"subject": "a-new"}),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/a-one", IN_A),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/b-one", OUTSIDE),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/a-alias", IN_A),
    Row(f"GET {DEK_ROUTE}", f"{K}/k/deks/a-out", OUTSIDE),
    Row(f"POST {DEK_ROUTE}", f"{K}/k/deks/a-new", IN_A, A_DEK),
    Row(f"POST {DEK_ROUTE}", f"{K}/k/deks/a-one", IN_A, A_DEK | {"deleted": True}, asks=DELETE),
    Row(f"POST {KEK_ROUTE}/deks", f"{K}/k/deks", IN_A, A_DEK | {"subject": "a-one", "deleted": True}, asks=DELETE),
    Row(f"DELETE {DEK_ROUTE}", f"{K}/k/deks/a-one", IN_A, success=204),
    Row(f"DELETE {DEK_ROUTE}", f"{K}/k/deks/a-gone?permanent=true", IN_A, success=204),
    Row(f"POST {DEK_ROUTE}/undelete", f"{K}/k/deks/a-gone/undelete", IN_A, success=204),
    Row(f"GET {DEK_ROUTE}/versions", f"{K}/k/deks/a-one/versions", IN_A, sees=([1], [1], None)),
    Row(f"GET {DEK_ROUTE}/versions/{{version}}", f"{K}/k/deks/a-one/versions/1", IN_A),
    Row(f"DELETE {DEK_ROUTE}/versions/{{version}}", f"{K}/k/deks/a-one/versions/1", IN_A, success=204),
    Row(f"DELETE {DEK_ROUTE}/versions/{{version}}", f"{K}/k/deks/a-gone/versions/1?permanent=true", IN_A, success=204),
    Row(f"POST {DEK_ROUTE}/versions/{{version}}/undelete", f"{K}/k/deks/a-gone/versions/1/undelete", IN_A, success=204),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/a-one", IN_A, sees=([], [], None)),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/b-one", OUTSIDE),
    Row("GET /associations/resources/{resource}", "/associations/resources/lkc-1", ANYWHERE, sees=([], [], [])),
    Row("GET /associations/resources/{namespace}/{resource}", "/associations/resources/-/orders", ANYWHERE,
        sees=([], [], [])),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/a-noted", IN_A,
        sees=(["a-noted"], ["a-noted"], None)),
    Row("GET /associations/subjects/{subject}", "/associations/subjects/b-shared", OUTSIDE),
    Row("GET /associations/resources/{resource}", "/associations/resources/id-a-topic", ANYWHERE,
        sees=(["a-noted"], ["a-noted"], [])),
    Row("GET /associations/resources/{resource}", "/associations/resources/id-b-topic", ANYWHERE,
        sees=(["b-shared"], [], [])),
    Row("GET /associations/resources/{namespace}/{resource}", "/associations/resources/-/-", ANYWHERE,
        sees=(["a-noted", "b-shared"], ["a-noted"], [])),
    Row("GET /schemas", "/schemas?lifecycle=WEAK", ANYWHERE, sees=(["a-noted", "b-shared"], ["a-noted"], [])),
    Row("POST /associations", "/associations", IN_A, associated("a-one")),
    Row("POST /associations", "/associations", OUTSIDE, associated("b-one")),
    Row("POST /associations", "/associations", OUTSIDE, STRONG),
    Row("POST /associations", "/associations", OUTSIDE, OF_OTHERS),
    Row("PUT /associations/resources/{resource}", "/associations/resources/id-t", IN_A, associated("a-one")),
    Row("PUT /associations/resources/{resource}", "/associations/resources/id-t", OUTSIDE, associated("a-out")),
    Row("DELETE /associations/resources/{resource}", "/associations/resources/id-a-topic", ID_OF_A, success=204),
    Row("DELETE /associations/resources/{resource}", "/associations/resources/id-b-topic", ID_OF_B, success=204),
    Row("DELETE /associations/resources/{resource}", "/associations/resources/id-a-topic?cascadeLifecycle=true",
        ID_OF_A, success=204),
    Row("POST /associations:batchGet", "/associations:batchGet?includeSchemas=true", ANYWHERE, TOPICS_OF_BOTH,
        sees=([["a-noted"], ["b-shared"]], [["a-noted"], []], [[], []]), success=207),
    Row("POST /associations:batchMutate", "/associations:batchMutate", ANYWHERE, batch("a-one", "b-one"),
        sees=([200, 200], [200, 40301], [40301, 40301]), success=207),
    Row("POST /associations:batchMutate", "/associations:batchMutate", ANYWHERE, batch("a-one", delete=True),
        success=207, asks=DELETE),
    Row("POST /associations:batchMutate", "/associations:batchMutate", ANYWHERE,
        batch("a-one", delete=True, cascade=True), success=207, asks=ADMIN),
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


ALL_DOORS = tuple(product(DOORS, ("by key", "by token")))
EACH_ONCE = (("local", "by key"), ("rest", "by token"))
"""Either way to say who one is, and either kind of door; tests/attack/test_every_door.py takes the others."""


@pytest.fixture(scope="module", params=EACH_ONCE, ids=" ".join)
def unchanged(keys: tuple[EmbeddedKeys, Mapping[str, str]], request: pytest.FixtureRequest) -> Iterator[Unchanged]:
    door, credentials = request.param
    with closing(Unchanged(keys, DOORS[door], by_token=credentials == "by token")) as made:
        yield made


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_who_may_who_may_not_and_what_they_see(unchanged: Unchanged, row: Row) -> None:
    """A success changes things for the next one: then the world is made anew."""
    everybody_asks(unchanged, row)


def everybody_asks(unchanged: Unchanged, row: Row) -> None:
    for who in WHO:
        world, ask = unchanged()
        reply = ask(who.name, row.method, prepared(world, row.target), row.body)
        outcome = row.outcome(who)
        assert reply.status == outcome, (who, reply)
        assert outcome < 400 or not world.is_changed, f"{who} was refused, and changed something"
        assert world.authors() <= {world.called(who.name)}, f"{who} changed something, and the journal names another"
        judge(row, who, reply, by_token=world.by_token)


def judge(row: Row, who: Who, reply: Reply, *, by_token: bool) -> None:
    """A refusal is JSON with a number and a sentence; every principal sees its own part of a list."""
    if reply.status == 401:
        assert reply.json == {"error_code": 401, "message": "Unauthorized"}
        schemes = ("Basic", "Bearer") if by_token else ("Basic",)
        assert reply.headers["www-authenticate"] == ", ".join(f'{one} realm="schema registry"' for one in schemes)
    elif reply.status == 403:
        assert reply.json["error_code"] == 40301
        assert reply.json["message"].startswith("User is denied operation ")
        if row.access not in who.may and row.is_inside(who):
            assert reply.json["message"].split()[4] in {access.operation for access in Access if access not in who.may}
    elif reply.status == 404 and row.success != 404:
        assert reply.json["error_code"] == (40410 if row.route.startswith("DELETE /associations") else 40403)
    elif row.sees:
        seen = reply.json
        if row.route in ("GET /schemas", "GET /schemas/guids", "GET /console/api/subjects") or row.route.startswith(
            "GET /associations"
        ):
            seen = [each["subject"] for each in seen]
        if isinstance(seen, dict) and "found" in seen:
            seen = [each if isinstance(each, str) else each.get("subject", each.get("name")) for each in seen["found"]]
        if row.route == "POST /associations:batchGet":
            seen = [[one["subject"] for one in each["result"].get("associations", ())] for each in seen["results"]]
        if row.route == "POST /associations:batchMutate":
            seen = [each.get("error", {"error_code": 200})["error_code"] for each in seen["results"]]
        assert seen == row.seen_by(who), who
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


def test_what_cannot_be_taken_back_asks_for_an_administrator() -> None:
    """As docs/api.md §2 says of flags: rows above would follow a table that asks for less."""
    more = {(route.name, query.name): query.access for route in ROUTES for query in route.query if query.access}
    named = {
        (route.name, query.name)
        for route in ROUTES
        for query in route.query
        if query.name in ("permanent", "cascadeLifecycle") or (query.name == "force" and route.access is not ADMIN)
    }
    assert more == dict.fromkeys(named, ADMIN)
    assert len(named) == 7


def test_a_wrong_path_is_wrong_for_everybody(door: Any, world: Guarded) -> None:
    """What is not there needs no key; what is there does not tell strangers what it is."""
    with door(world) as ask:
        assert ask("nobody", "GET", "/nope").status == 404
        assert ask("nobody", "PATCH", "/subjects").status == 405
        assert ask("nobody", "POST", "/subjects/a-one/versions", "no object").status == 401
