"""The caches of a zone: nodes that know nothing of each other. The caller decides which member keeps which schema.

Each member is a group of one node, so that its address is known when the stack is deployed and never moves: it need not
be discovered, and all instances of a zone see the same ring. Members are made one after the other: while one joins, the
group of users that all of them have is busy, and refuses the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_cdk import Arn, ArnComponents, ArnFormat, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticache as elasticache
from constructs import Construct

from sigla.cdk.parts.checklist import acknowledge
from sigla.cdk.parts.network import Network, Subnet, security_group
from sigla.deployment.choices.ring import MEMCACHED, NONE, VALKEY
from sigla.deployment.settings import Settings


@dataclass(frozen=True, slots=True)
class Engine:
    """A kind of cache. version, family: as ElastiCache calls it and its parameters. parameters: those we change."""

    version: str
    family: str
    port: int
    parameters: Mapping[str, str]


ENGINES = {
    # Out of the box it evicts only what expires soon; whatever was not asked for longest may go as well.
    VALKEY: Engine("8.1", "valkey8", 6379, {"maxmemory-policy": "allkeys-lru"}),
    # A text of 1 MiB with its references is longer than what it takes out of the box.
    MEMCACHED: Engine("1.6.22", "memcached1.6", 11211, {"max_item_size": str(4 * 2**20)}),
}

# All that a member is asked; to say who one is, is always allowed.
COMMANDS = ("ping", "get", "set", "eval")

PLAIN: dict[str, Any] = {"transit_encryption_enabled": False}
SECURED: dict[str, Any] = {
    "at_rest_encryption_enabled": True,
    "transit_encryption_enabled": True,
    "transit_encryption_mode": "required",
}

ACKNOWLEDGED = {
    "AEC4": "A lost member is a cache miss, and S3 answers: a second node would be paid for nothing.",
    "AEC6": "Valkey's members authenticate callers with IAM; a password would be one more secret to keep.",
    "AEC5": "The security group decides which callers reach the port, not its number.",
}
ON_LOCALSTACK = dict.fromkeys(("AEC1", "AEC3"), "A process on this machine, which only this machine reaches.")


class Ring(Construct):
    """The members of one zone, reached by its function alone.

    clients: the security group of who may reach them. addresses: as SIGLA_RING has them. arns: what IAM has to allow
    to connect to, where members ask who comes. guard: the security group of the members, if there are any.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        network: Network,
        zone: str,
        subnet: Subnet,
        clients: ec2.CfnSecurityGroup,
    ) -> None:
        super().__init__(scope, name)
        self.settings, self.zone, self.subnet = settings, zone, subnet
        self.addresses: list[str] = []
        self.arns: list[str] = []
        self.guard: ec2.CfnSecurityGroup | None = None
        if settings.ring.kind == NONE:
            return
        self.engine = ENGINES[settings.ring.kind]
        self.guard = guard = security_group(
            self,
            "Guard",
            network=network,
            description=f"Sigla, the ring of {zone}: from its function alone",
            comes_in=(
                ec2.CfnSecurityGroup.IngressProperty(
                    ip_protocol="tcp",
                    from_port=self.engine.port,
                    to_port=self.engine.port,
                    source_security_group_id=clients.attr_group_id,
                    description="From the function",
                ),
            ),
        )
        # LocalStack's members are processes on this machine, without places and parameters.
        place = {} if settings.local else self.place()
        make = self.valkey if settings.ring.kind == VALKEY else self.memcached
        make([guard.attr_group_id], place)

    @staticmethod
    def port(settings: Settings) -> int:
        """The port of each member; 0 without a ring."""
        return ENGINES[settings.ring.kind].port if settings.ring.kind != NONE else 0

    def place(self) -> dict[str, Any]:
        """Where members stand, and how they forget."""
        subnets = elasticache.CfnSubnetGroup(
            self, "Subnets", description=f"Sigla, the subnet of {self.zone}", subnet_ids=[self.subnet.id]
        )
        parameters = elasticache.CfnParameterGroup(
            self,
            "Parameters",
            cache_parameter_group_family=self.engine.family,
            description=f"Sigla, the ring of {self.zone}",
            properties=dict(self.engine.parameters),
        )
        return {"cache_subnet_group_name": subnets.ref, "cache_parameter_group_name": parameters.ref}

    def valkey(self, guards: list[str], place: dict[str, Any]) -> None:
        choice, local = self.settings.ring, self.settings.local
        user = None if local else self.user()
        secured = PLAIN if user is None else SECURED | {"user_group_ids": [self.users(user).ref]}
        before: elasticache.CfnReplicationGroup | None = None
        for number in range(1, choice.members + 1):
            member = elasticache.CfnReplicationGroup(
                self,
                f"Member{number}",
                replication_group_description=f"Sigla, member {number} of the ring of {self.zone}",
                engine=VALKEY,
                engine_version=self.engine.version,
                cache_node_type=choice.node_type,
                num_cache_clusters=1,
                automatic_failover_enabled=False,
                multi_az_enabled=False,
                preferred_cache_cluster_a_zs=[self.subnet.zone_name] if self.subnet.zone_name else None,
                port=self.engine.port,
                security_group_ids=guards,
                **place,
                **secured,
            )
            if before:
                member.node.add_dependency(before)
            before = member
            where = f"{member.attr_primary_end_point_address}:{member.attr_primary_end_point_port}"
            self.acknowledged(member)
            if user is None:
                self.addresses.append(f"valkey://{where}")
            else:
                self.addresses.append(f"valkeys://{user.ref}@{where}?iam={member.ref}")
                self.arns.append(self.arn("replicationgroup", member.ref))

    def user(self) -> elasticache.CfnUser:
        """The user of the members: IAM decides who may be it; it has no password."""
        name = f"{self.settings.stack_name.lower()}-{self.zone}"
        user = elasticache.CfnUser(
            self,
            "User",
            engine=VALKEY,
            user_id=name,
            user_name=name,  # IAM wants both to be the same
            access_string=" ".join(("on", "~*", "-@all", *(f"+{each}" for each in COMMANDS))),
            authentication_mode={"Type": "iam"},
        )
        self.arns.append(self.arn("user", user.ref))
        return user

    def users(self, user: elasticache.CfnUser) -> elasticache.CfnUserGroup:
        return elasticache.CfnUserGroup(self, "Users", engine=VALKEY, user_group_id=user.user_id, user_ids=[user.ref])

    def memcached(self, guards: list[str], place: dict[str, Any]) -> None:
        """They have neither users nor passwords: whoever the guard lets through is believed.

        Another type of node is another member: of one that is there ElastiCache cannot change it.
        """
        choice, local = self.settings.ring, self.settings.local
        kind = choice.node_type.title().replace(".", "")
        for number in range(1, choice.members + 1):
            member = elasticache.CfnCacheCluster(
                self,
                f"Member{number}{kind}",
                engine=MEMCACHED,
                engine_version=self.engine.version,
                cache_node_type=choice.node_type,
                num_cache_nodes=1,
                az_mode="single-az",
                preferred_availability_zone=self.subnet.zone_name or None,
                port=self.engine.port,
                vpc_security_group_ids=guards,
                transit_encryption_enabled=not local,
                **place,
            )
            self.acknowledged(member)
            # The address by which nodes of a cluster are found; of one node it is that node's.
            where = f"{member.attr_configuration_endpoint_address}:{member.attr_configuration_endpoint_port}"
            self.addresses.append(f"memcached://{where}" if local else f"memcacheds://{where}")

    def acknowledged(self, member: Construct) -> None:
        for rule, reason in (ACKNOWLEDGED | (ON_LOCALSTACK if self.settings.local else {})).items():
            acknowledge(member, rule, reason)

    def arn(self, kind: str, name: str) -> str:
        parts = ArnComponents(
            service="elasticache", resource=kind, resource_name=name, arn_format=ArnFormat.COLON_RESOURCE_NAME
        )
        return str(Arn.format(parts, Stack.of(self)))
