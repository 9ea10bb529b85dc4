"""The network that zones are parts of: without a way to the internet, and without anything that costs by the hour.

What does, is of a zone: its ring, its private door, its way to KMS where it needs one.
"""

from dataclasses import dataclass

from aws_cdk import Aws, CfnTag
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_route53 as route53
from constructs import Construct

from sigla.cdk.parts.checklist import acknowledge
from sigla.deployment.settings import Settings

HTTPS = 443


class Network(Construct):
    """What zones share, and no more: each brings its subnet, its routes and its endpoints.

    vpc: our own, or None. vpc_id: of it, or of the one that settings name. names: the id of the private hosted zone in
    which each zone has a record, where private doors have names of ours.
    """

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        self.vpc = None if settings.network.vpc_id else self.new_vpc(settings)
        self.vpc_id = self.vpc.ref if self.vpc else settings.network.vpc_id
        named = settings.private_doors and settings.front_door.private_domain
        self.names = self.new_names(settings).ref if named else ""

    def new_vpc(self, settings: Settings) -> ec2.CfnVPC:
        vpc = ec2.CfnVPC(
            self,
            "Vpc",
            cidr_block=settings.network.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=[CfnTag(key="Name", value=settings.stack_name)],
        )
        acknowledge(
            vpc, "VPC7", "The network holds functions and their caches only; flow logs are the account's choice."
        )
        return vpc

    def new_names(self, settings: Settings) -> route53.CfnHostedZone:
        return route53.CfnHostedZone(
            self,
            "Names",
            name=settings.front_door.private_domain,
            vpcs=[route53.CfnHostedZone.VPCProperty(vpc_id=self.vpc_id, vpc_region=Aws.REGION)],
        )


@dataclass(frozen=True, slots=True)
class Subnet:
    """The one of a zone.

    zone_name: of its zone in this account, as us-east-1a, and addresses: its CIDR; both empty of a subnet that was
    there already, of which a template knows the id alone. made: our own, or None.
    """

    id: str
    zone_name: str = ""
    addresses: str = ""
    made: ec2.CfnSubnet | None = None


def security_group(
    scope: Construct,
    name: str,
    *,
    network: Network,
    description: str,
    comes_in: tuple[ec2.CfnSecurityGroup.IngressProperty, ...] = (),
    goes_out: tuple[ec2.CfnSecurityGroup.EgressProperty, ...] = (),
) -> ec2.CfnSecurityGroup:
    """One whose rules are these and no others: AWS lets everything out where no rule says what may go."""
    return ec2.CfnSecurityGroup(
        scope,
        name,
        group_description=description,
        vpc_id=network.vpc_id,
        security_group_ingress=list(comes_in),
        security_group_egress=list(goes_out or (_NOTHING,)),
    )


# A rule that matches no packet, as CDK has it where nothing may go out.
_NOTHING = ec2.CfnSecurityGroup.EgressProperty(
    ip_protocol="icmp",
    from_port=252,
    to_port=86,
    cidr_ip="255.255.255.255/32",
    description="Allows no outgoing traffic",
)
