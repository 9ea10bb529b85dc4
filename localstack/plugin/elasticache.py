"""ElastiCache for LocalStack, as CloudFormation makes it: each group or cluster is one cache server of this machine.

What is not played (TLS, users, replicas, more than one node) is refused with a sentence, so that no stack relies on it.
Taken without effect are sizes, zones, subnets, windows. ElastiCache's own API is not there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from localstack.services.cloudformation.resource_provider import (
    OperationStatus,
    ProgressEvent,
    ResourceProvider,
    ResourceProviderExecutor,
)
from sigla.cache.servers import CacheServer, ServerMissing, start

_load = ResourceProviderExecutor.try_load_resource_provider

_running: dict[str, CacheServer] = {}
"""By the name of its group or cluster."""


def _one_of(*values: str) -> Callable[[object], bool]:
    return lambda given: str(given).lower() in values


@dataclass(frozen=True, slots=True)
class Kind:
    """One of CloudFormation's types.

    name: the property that names a resource. endpoint: the attribute with its address.
    plays: what of a property can be had, where it is given. replaces: properties whose change makes a new one.
    """

    name: str
    endpoint: str
    plays: Mapping[str, Callable[[object], bool]]
    replaces: tuple[str, ...]


KINDS = {
    "AWS::ElastiCache::ReplicationGroup": Kind(
        "ReplicationGroupId",
        "PrimaryEndPoint",
        {
            "Engine": _one_of("valkey", "redis"),
            "NumNodeGroups": _one_of("1"),
            "NumCacheClusters": _one_of("1"),
            "ReplicasPerNodeGroup": _one_of("0"),
            "TransitEncryptionEnabled": _one_of("false"),
            "UserGroupIds": _one_of("[]"),
            "AuthToken": _one_of(),
        },
        ("ReplicationGroupId", "CacheSubnetGroupName", "AtRestEncryptionEnabled", "KmsKeyId", "Port"),
    ),
    "AWS::ElastiCache::CacheCluster": Kind(
        "ClusterName",
        "ConfigurationEndpoint",
        {
            "Engine": _one_of("memcached"),
            "NumCacheNodes": _one_of("1"),
            "TransitEncryptionEnabled": _one_of("false"),
        },
        ("ClusterName", "CacheSubnetGroupName", "Engine", "Port"),
    ),
}
"""What replaces: AWS CloudFormation's reference of each type, "Update requires: Replacement"."""


class Provider(ResourceProvider):  # type: ignore[misc]  # LocalStack's modules are not there where types are checked
    """What CloudFormation asks of a type."""

    def __init__(self, type: str, kind: Kind) -> None:
        self.kind = kind
        self.SCHEMA = {
            "typeName": type,
            "primaryIdentifier": [f"/properties/{kind.name}"],
            "createOnlyProperties": [f"/properties/{name}" for name in kind.replaces],
        }

    def create(self, request: Any) -> ProgressEvent:
        model = dict(request.desired_state)
        if refused := [name for name, plays in self.kind.plays.items() if name in model and not plays(model[name])]:
            return _failed(f"not emulated here: {', '.join(f'{name} as {model[name]}' for name in refused)}")
        name = model.setdefault(self.kind.name, f"{request.logical_resource_id.lower()}-{token_hex(4)}")
        if name in _running:
            return _failed(f"{name} exists already")
        try:
            server = _running[name] = start("memcached" if model["Engine"] == "memcached" else "valkey")
        except ServerMissing as reason:
            return _failed(str(reason))
        model[self.kind.endpoint] = {"Address": "127.0.0.1", "Port": str(server.port)}
        return _done(model)

    def update(self, request: Any) -> ProgressEvent:
        """Whatever does not replace it has no effect on it."""
        return _done({**request.previous_state, **request.desired_state})

    def delete(self, request: Any) -> ProgressEvent:
        if server := _running.pop(request.previous_state[self.kind.name], None):
            server.stop()
        return _done(request.previous_state)


def _done(model: Mapping[str, Any]) -> ProgressEvent:
    return ProgressEvent(OperationStatus.SUCCESS, resource_model=dict(model))


def _failed(reason: str) -> ProgressEvent:
    return ProgressEvent(OperationStatus.FAILED, resource_model={}, message=reason)


def load(type: str) -> Any:
    """What makes a resource of the type; None for an unknown type."""
    return Provider(type, KINDS[type]) if type in KINDS else _load(type)


def install() -> None:
    """Makes these types LocalStack's."""
    ResourceProviderExecutor.try_load_resource_provider = staticmethod(load)
