"""What settings of several kinds must be together; what those below one dot must be, their own module says."""

from typing import Final

from sigla.deployment.choices import function, issuers
from sigla.deployment.choices.rules import Together, is_known, titled, zones_prefix

LOCAL_STACK: Final = "sigla-local-"
"""What the name of every local stack begins with: it keeps nothing, and must never be the update of one that does."""

TOGETHER: Final[Together] = (
    (
        lambda given: not given.local or given.stack_name.startswith(LOCAL_STACK),
        f"stack_name must begin with {LOCAL_STACK} where stage is local: leave it out.",
    ),
    (
        lambda given: given.registry_name not in given.more_registries,
        "registries are further ones: leave registry_name out of them.",
    ),
    (
        lambda given: len({titled(each) for each in given.more_registries}) == len(given.more_registries),
        "registries must differ by more than where a '-' stands: outputs of the stack are called after them.",
    ),
    (
        # Each would need its own user in every ring, its own part of the heartbeat, and a door in every zone.
        lambda given: not given.registries or not given.zones,
        "registries excludes zones: give a registry with zones a stack of its own, with this one's table and bucket.",
    ),
    (
        lambda given: len(set(given.all_registries)) == len(given.all_registries),
        "pool and registries are further ones, each in one of the two: leave registry_name and the others out of them.",
    ),
    (
        lambda given: not given.pool or given.public_doors or given.zones,
        "pool needs a function that clients reach: leave front_door.public on, or set zones.",
    ),
    (
        # The function that runs them knows one registry, and the credentials of that one.
        lambda given: not given.pool or not given.exporters,
        "pool excludes exporters: have the registries that write to others in a stage of their own.",
    ),
    (
        lambda given: not given.pool or given.auth != "none" or given.front_door.wildcard_domain,
        "pool with auth=none goes by host names alone: set front_door.domain_name to one such as *.registry.example.",
    ),
    (
        lambda given: not given.pool or len(given.pool) + len(given.issuers.encode()) <= issuers.LONGEST,
        f"pool and issuers must have {issuers.LONGEST} bytes together at most: a function's variables take no more.",
    ),
    (
        lambda given: all(len(f"{given.stack_name}-{each}") <= 128 for each in given.more_registries),
        "stack_name and the longest name of registries must have 127 letters together at most.",
    ),
    (
        # It would be a grant for nothing.
        lambda given: not given.console_keys or (given.console and given.auth == "keys"),
        "console_keys are pages of the console for who has a key: leave console and auth=keys on, or leave it out.",
    ),
    (
        lambda given: given.table_name or not given.table_stream_arn,
        "table_stream_arn needs table_name: give both, or table_name alone.",
    ),
    (
        lambda given: (
            f"table/{given.table_name}/stream/" in given.table_stream_arn
            or not given.table_stream_arn
            or not (is_known(given.table_name) and is_known(given.table_stream_arn))
        ),
        "table_stream_arn is not the ARN of a stream of the table that table_name names.",
    ),
    (
        lambda given: given.local or not given.table_name or given.table_stream_arn or not given.journal.stream,
        "table_name needs table_stream_arn, the ARN of that table's stream, or journal.stream=false.",
    ),
    (
        # It names a ring's user, which has 40 letters; a zone's id has up to twelve of them.
        lambda given: not given.zones or len(given.stack_name) <= 27,
        "stack_name must have 27 letters at most where there are zones.",
    ),
    (
        lambda given: not given.region or all(zone.startswith(zones_prefix(given.region)) for zone in given.zone_ids),
        "zones must be in region: ids of zones in us-east-1 begin with use1-, in eu-west-1 with euw1-.",
    ),
    (
        lambda given: not given.front_door.private_zonal or given.zones,
        "front_door.private_zonal needs zones: set zones.",
    ),
    (
        # LocalStack has public doors in any case.
        lambda given: given.public_doors or not (given.front_door.function_url or given.front_door.domain_name),
        "front_door.public=false excludes front_door.function_url and front_door.domain_name.",
    ),
    (
        lambda given: not given.network.subnets or set(given.network.subnet_ids) == set(given.zone_ids),
        "network.subnets must name exactly one subnet for each of zones.",
    ),
    (
        lambda given: (
            not (given.network.subnets and given.private_doors)
            or given.front_door.private_clients
            or given.front_door.private_endpoints
        ),
        "network.subnets replaces network.cidr: set front_door.private_clients, the networks of the clients.",
    ),
    (
        lambda given: (
            not given.front_door.private_endpoints or set(given.front_door.endpoint_ids) == set(given.zone_ids)
        ),
        "front_door.private_endpoints must name exactly one endpoint for each of zones.",
    ),
    (
        lambda given: not given.local or not given.network.subnets,
        "network.subnets needs AWS: leave it empty where stage is local.",
    ),
    (
        lambda given: (
            not given.function.reserved_concurrency or given.front_door.burst <= given.function.reserved_concurrency
        ),
        "front_door.burst must be at most function.reserved_concurrency, unless that is 0: more than that gets 503.",
    ),
    (
        lambda given: (
            not given.function.reserved_concurrency
            or given.front_door.requests_per_second
            <= given.function.reserved_concurrency * function.REQUESTS_PER_SECOND
        ),
        "front_door.requests_per_second must be at most ten times function.reserved_concurrency, unless that is 0.",
    ),
    (
        lambda given: all(
            given.zone_ids[0].startswith(zones_prefix(arn.split(":")[3]))
            for arn in given.zone_kms_keys
            if is_known(arn)
        ),
        "function.kms_keys must be of the zones' region: for others set network.subnets, subnets with a way to them.",
    ),
    (
        # Whoever creates one brings credentials, which are kept in SSM.
        lambda given: not given.exporters or not given.closed_zones or given.public_doors,
        "exporters needs a way to SSM: leave front_door.public on, or set network.subnets, subnets that have one.",
    ),
    (
        lambda given: not given.local or not given.events.bus,
        "events.bus needs the journal's function, which LocalStack lacks: leave it out where stage is local.",
    ),
    (
        # Source: EventBridge User Guide, "Sending events between event buses": a rule leads to other regions.
        lambda given: not given.region or given.events.region in ("", given.region),
        "events.bus must be in region: name a bus there, with a rule that leads to the one of another region.",
    ),
    (
        # Their functions reach no other region.
        lambda given: not given.regions.peer or not given.zones,
        "regions.peer excludes zones: a registry with zones has one region.",
    ),
    (
        lambda given: not given.regions.peer or not (given.registries or given.pool),
        "regions.peer is of one registry: leave out registries and pool, and give each of them a stage of its own.",
    ),
    (
        lambda given: not given.region or given.regions.region != given.region,
        "regions.peer must be in another region than region.",
    ),
    (
        lambda given: given.local or not given.regions.url.startswith("http:"),
        "regions.url must begin with https:// where the registry is in AWS: requests go there with their credentials.",
    ),
    (
        lambda given: not given.issuers or given.auth != "none",
        "issuers is of tokens, and auth=none opens the registry to every caller: leave out one of the two.",
    ),
    (
        lambda given: not given.local or not given.pipelines.enabled,
        "pipelines.enabled needs EMR Serverless, which LocalStack lacks: leave it off where stage is local.",
    ),
)
