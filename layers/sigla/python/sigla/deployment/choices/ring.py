"""The settings `ring.…`."""

from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together

VALKEY, MEMCACHED, NONE = "valkey", "memcached", "none"


@dataclass(frozen=True, slots=True)
class RingChoices:
    """The caches of each zone.

    kind: `valkey`, `memcached`, or `none`: then each instance reads S3 for itself.
    members: how many each zone has; each keeps its part of the schemas.
    node_type: of each member.
    presence_seconds: how long a schema stays there; so long may another zone go on reading what one has deleted.
    """

    kind: str = VALKEY
    members: int = 2
    node_type: str = "cache.t4g.micro"
    presence_seconds: int = 3_600


RULES: Rules = {
    "kind": (lambda value: value in (VALKEY, MEMCACHED, NONE), "it must be valkey, memcached or none"),
    # Their addresses are in the function's environment, which holds 4 KB.
    "members": (lambda value: 1 <= value <= 10, "it must be 1 to 10"),
    "node_type": (lambda value: value.startswith("cache."), "it must be a type of ElastiCache's nodes"),
    "presence_seconds": (lambda value: 60 <= value <= 86_400, "it must be 60 to 86400"),
}

TOGETHER: Together = ()
