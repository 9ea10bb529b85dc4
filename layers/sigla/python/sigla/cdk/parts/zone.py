"""One zone: its part of the network, its ring, the registry in it with a URL, its clock and its alarms.

It owns all that it needs and changes nothing that others use: a zone comes and goes, and the template of everything
else stays the same to the letter. Where instances of a function run is decided by its subnet, and by nothing else.
"""

from collections.abc import Iterator

from aws_cdk import Aws, CfnResource, CfnTag
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct, IDependable

from sigla.cdk import doors
from sigla.cdk.heartbeat import BEAT, Heartbeat
from sigla.cdk.parts.alarms import WatchedMetric, of_a_function, of_a_url, of_an_api, own_metric, set_alarms
from sigla.cdk.parts.functions import Functions
from sigla.cdk.parts.network import HTTPS, Network, Subnet, security_group
from sigla.cdk.parts.private_door import PrivateDoor
from sigla.cdk.parts.recipients import Recipients
from sigla.cdk.parts.ring import Ring
from sigla.cdk.parts.service_endpoint import ServiceEndpoint
from sigla.cdk.service import Service
from sigla.cdk.storage import Storage
from sigla.cdk.variables import Place
from sigla.deployment.choices.rules import titled
from sigla.deployment.settings import Settings

ANYWHERE = "0.0.0.0/0"


class Zone(Construct):
    """url: the public one, of the function; empty without. private: the door for clients in the network, or None."""

    def __init__(
        self,
        scope: Construct,
        zone: str,
        *,
        settings: Settings,
        storage: Storage,
        functions: Functions,
        network: Network,
        heartbeat: Heartbeat,
        account: IDependable | None,
        recipients: Recipients,
    ) -> None:
        super().__init__(scope, f"Zone{titled(zone)}")
        self.settings, self.zone, self.network = settings, zone, network
        given = settings.network.subnet_ids.get(zone)
        self.subnet = Subnet(given) if given else self.new_subnet()
        ways_out = [] if given else self.ways_out(storage)
        guard = self.guard()
        self.ring = Ring(self, "Ring", settings=settings, network=network, zone=zone, subnet=self.subnet, clients=guard)
        self.let_to_the_ring(guard)
        self.keys = self.way_to_keys(guard) if settings.zone_kms_keys else None
        self.service = Service(
            self,
            "Service",
            settings=settings,
            storage=storage,
            functions=functions,
            place=Place(
                zone,
                self.subnet.id,
                guard.attr_group_id,
                self.ring.addresses,
                self.ring.arns,
                self.parts(guard),
                self.keys.variables if self.keys else {},
            ),
        )
        self.service.function.node.add_dependency(*ways_out)
        alias = self.service.alias
        self.url = doors.function_url(alias) if settings.zone_urls else ""
        self.private = (
            PrivateDoor(
                self,
                "Private",
                settings=settings,
                network=network,
                zone=zone,
                subnet=self.subnet,
                target=alias,
                after=account,
            )
            if settings.private_doors
            else None
        )
        self.ask_each_minute(heartbeat)
        if settings.watch.alarms and not settings.local:
            set_alarms(
                self, self.watched(), recipients=recipients, about=f"the registry {settings.registry_name} in {zone}"
            )

    def new_subnet(self) -> Subnet:
        """By the zone's id: its name is another place in another account."""
        addresses = self.settings.cidr_of(self.zone)
        made = ec2.CfnSubnet(
            self,
            "Subnet",
            vpc_id=self.network.vpc_id,
            availability_zone_id=self.zone,
            cidr_block=addresses,
            map_public_ip_on_launch=False,
            tags=[CfnTag(key="Name", value=f"{self.settings.stack_name}-{self.zone}")],
        )
        return Subnet(made.ref, made.attr_availability_zone, addresses, made)

    def ways_out(self, storage: Storage) -> list[Construct]:
        """To the registry's bucket and table, and nowhere else: a route table of its own, with gateways of its own.

        A VPC may have several gateway endpoints of one service, each for other route tables; one for all zones would
        have to be changed for each zone that comes. Source: Amazon VPC User Guide, "Gateway VPC endpoints".
        """
        routes = ec2.CfnRouteTable(self, "Routes", vpc_id=self.network.vpc_id)
        joined = ec2.CfnSubnetRouteTableAssociation(self, "Joined", route_table_id=routes.ref, subnet_id=self.subnet.id)
        stores = {
            "s3": [storage.bucket.bucket_arn, storage.bucket.arn_for_objects("*")],
            "dynamodb": [storage.table.table_arn],
        }
        gateways = [
            ec2.CfnVPCEndpoint(
                self,
                f"To{service.capitalize()}",
                vpc_id=self.network.vpc_id,
                vpc_endpoint_type="Gateway",
                service_name=f"com.amazonaws.{Aws.REGION}.{service}",
                route_table_ids=[routes.ref],
                policy_document=_nothing_but(service, arns),
            )
            for service, arns in stores.items()
        ]
        return [joined, *gateways]

    def guard(self) -> ec2.CfnSecurityGroup:
        """No connection comes in.

        Out by HTTPS: no route leads anywhere but to the two stores, whose addresses AWS changes, and to what is in the
        network.
        """
        stores = "To S3, DynamoDB and KMS" if self.settings.zone_kms_keys else "To S3 and DynamoDB"
        to = [(HTTPS, ANYWHERE, stores)]
        if self.subnet.addresses and (port := Ring.port(self.settings)):
            to.append((port, self.subnet.addresses, "To the ring"))
        return security_group(
            self,
            "Guard",
            network=self.network,
            description=f"Sigla, the function in {self.zone}",
            goes_out=tuple(
                ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol="tcp", from_port=port, to_port=port, cidr_ip=where, description=why
                )
                for port, where, why in to
            ),
        )

    def let_to_the_ring(self, guard: ec2.CfnSecurityGroup) -> None:
        """In a subnet whose addresses are not known, by the members' security group, which is made after the guard."""
        if self.ring.guard and not self.subnet.addresses:
            port = Ring.port(self.settings)
            ec2.CfnSecurityGroupEgress(
                self,
                "ToTheRing",
                group_id=guard.attr_group_id,
                ip_protocol="tcp",
                from_port=port,
                to_port=port,
                destination_security_group_id=self.ring.guard.attr_group_id,
                description="To the ring",
            )

    def way_to_keys(self, guard: ec2.CfnSecurityGroup) -> ServiceEndpoint:
        """To the KMS keys that settings name, in a subnet of ours, which has no other way to them."""
        return ServiceEndpoint(
            self,
            "Keys",
            network=self.network,
            subnet=self.subnet,
            client=guard,
            service="kms",
            actions=("Decrypt", "Encrypt"),
            on=self.settings.zone_kms_keys,
        )

    def parts(self, guard: ec2.CfnSecurityGroup) -> list[CfnResource]:
        """All that decides where the function is, and what is in its ring."""
        ring = [each for each in self.ring.node.find_all() if CfnResource.is_cfn_resource(each)]
        way = self.keys.resource if self.keys else None
        return [*filter(None, (self.network.vpc, self.subnet.made, way)), guard, *ring]

    def ask_each_minute(self, heartbeat: Heartbeat) -> None:
        """Its clock, and its leave for the heartbeat to ask. One that comes late is of no use, and not repeated."""
        alias = self.service.alias
        lambda_.CfnPermission(
            self,
            "Asked",
            action="lambda:InvokeFunction",
            function_name=alias.function_arn,
            principal=heartbeat.role.role_arn,
        )
        zone = {
            "id": self.zone,
            "name": self.subnet.zone_name,
            "url": self.private.url if self.private else self.url,
            "function": alias.function_arn,
        }
        events.Rule(
            self,
            "Heartbeat",
            description=f"Reports the health of {self.zone}",
            schedule=events.Schedule.rate(BEAT),
            targets=[
                targets.LambdaFunction(
                    heartbeat.function,
                    event=events.RuleTargetInput.from_object({"zone": zone}),
                    max_event_age=BEAT,
                    retry_attempts=0,
                )
            ],
        )

    def watched(self) -> Iterator[WatchedMetric]:
        """A row for each alarm. That a ring forgets what was not asked for is its purpose, and rings no alarm."""
        alias = self.service.alias
        yield WatchedMetric(
            "Unhealthy",
            self.told("ZoneHealthy"),
            1,
            1,
            "no heartbeat in five minutes reported the zone as healthy, or none came. GET /zones has the reason.",
            below=True,
            page=True,
        )
        yield WatchedMetric(
            "Misplaced",
            self.told("ZoneMismatch"),
            1,
            1,
            "its function runs in another zone than it should.",
        )
        if self.ring.addresses:
            yield WatchedMetric(
                "RingDown",
                self.told("RingMembersDown"),
                1,
                3,
                "a member of its ring does not answer. Its entries are read from S3 instead.",
                out_of=5,
            )
        yield from of_a_function(alias, requests_per_hour=self.settings.watch.requests_per_hour)
        if self.url:
            yield from of_a_url(alias, settings=self.settings)
        if self.private:
            yield from of_an_api(
                self.private.api.deployment_stage, "Private", "its private door", settings=self.settings
            )

    def told(self, name: str) -> cloudwatch.Metric:
        """A metric of the heartbeat's."""
        return own_metric(self.settings, name, zone=self.zone)


def _nothing_but(service: str, arns: list[str]) -> iam.PolicyDocument:
    statement = iam.PolicyStatement(principals=[iam.AnyPrincipal()], actions=[f"{service}:*"], resources=arns)
    return iam.PolicyDocument(statements=[statement])
