"""A zone's own door for clients in its network: an endpoint in the zone, a REST API that only it reaches, and a name.

A client finds the name in the private hosted zone, and comes by the endpoint's address in its own zone to API Gateway:
without a NAT gateway, without the internet, and without a transfer between zones that is billed. Behind the endpoint
API Gateway and Lambda are services of the region: through which zones their bytes go, AWS does not promise. Source:
Amazon API Gateway Developer Guide, "Custom domain names for private APIs".

By an endpoint that was there already, the name is the one that API Gateway gives the two together.
"""

from aws_cdk import Aws, Fn
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_route53 as route53
from constructs import Construct, IConstruct, IDependable

from sigla.cdk.parts.front_door import STAGE, rest_api
from sigla.cdk.parts.logs import log_group
from sigla.cdk.parts.network import HTTPS, Network, Subnet, security_group
from sigla.deployment.choices.rules import listed
from sigla.deployment.settings import Settings


class PrivateDoor(Construct):
    """url: without a slash at its end; by an endpoint that was there before the stage is part of it."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        network: Network,
        zone: str,
        subnet: Subnet,
        target: lambda_.IFunction,
        after: IDependable | None,
    ) -> None:
        super().__init__(scope, name)
        self.settings, self.zone = settings, zone
        given = settings.front_door.endpoint_ids.get(zone)
        endpoint = None if given else self.new_endpoint(network, subnet)
        self.endpoint_id = endpoint.ref if endpoint else given
        known = ec2.InterfaceVpcEndpoint.from_interface_vpc_endpoint_attributes(
            self, "Known", vpc_endpoint_id=self.endpoint_id, port=HTTPS
        )
        self.api = rest_api(
            self,
            settings=settings,
            target=target,
            log_group=log_group(self, "Log", settings) if settings.front_door.access_logs else None,
            after=after,
            rest_api_name=f"{settings.stack_name}-{zone}",
            description=f"Sigla, the registry {settings.registry_name} in {zone}",
            endpoint_configuration=apigateway.EndpointConfiguration(
                types=[apigateway.EndpointType.PRIVATE], vpc_endpoints=[known]
            ),
            policy=self.by_the_endpoint(),
        )
        # What is made first of it, and what last.
        self.begins: list[IConstruct] = [self.api.node.find_child("Resource")]
        self.ends: list[IConstruct] = [self.api.deployment_stage]
        if endpoint:
            name = f"{zone}.{settings.front_door.private_domain}"
            self.url = f"https://{name}"
            self.name_it(name)
            self.find_it(name, network, endpoint)
        else:
            host = f"{self.api.rest_api_id}-{given}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}"
            self.url = f"https://{host}/{STAGE}"

    def new_endpoint(self, network: Network, subnet: Subnet) -> ec2.CfnVPCEndpoint:
        ours = [] if self.settings.network.subnets else [self.settings.network.cidr]
        clients = (*ours, *listed(self.settings.front_door.private_clients))
        guard = security_group(
            self,
            "Guard",
            network=network,
            description=f"Sigla, the private door of {self.zone}: HTTPS from clients",
            comes_in=tuple(
                ec2.CfnSecurityGroup.IngressProperty(
                    ip_protocol="tcp", from_port=HTTPS, to_port=HTTPS, cidr_ip=each, description="From clients"
                )
                for each in clients
            ),
        )
        return ec2.CfnVPCEndpoint(
            self,
            "Endpoint",
            vpc_id=network.vpc_id,
            vpc_endpoint_type="Interface",
            service_name=f"com.amazonaws.{Aws.REGION}.execute-api",
            subnet_ids=[subnet.id],
            security_group_ids=[guard.attr_group_id],
            # Only one of all endpoints in a VPC could have API Gateway's own names; each of ours has a name of ours.
            private_dns_enabled=False,
        )

    def by_the_endpoint(self) -> iam.PolicyDocument:
        """Every caller that comes by this endpoint may ask; the registry itself finds out which principal it is."""
        statement = iam.PolicyStatement(
            principals=[iam.AnyPrincipal()],
            actions=["execute-api:Invoke"],
            resources=["execute-api:/*"],
            conditions={"StringEquals": {"aws:SourceVpce": self.endpoint_id}},
        )
        return iam.PolicyDocument(statements=[statement])

    def name_it(self, name: str) -> None:
        """The name leads to the API, and is open to the endpoint alone."""
        domain = apigateway.CfnDomainNameV2(
            self,
            "Domain",
            domain_name=name,
            certificate_arn=self.settings.front_door.private_certificate_arn,
            endpoint_configuration=apigateway.CfnDomainNameV2.EndpointConfigurationProperty(types=["PRIVATE"]),
            policy=self.by_the_endpoint(),
            security_policy="TLS_1_2",
        )
        mapping = apigateway.CfnBasePathMappingV2(
            self,
            "Mapping",
            domain_name_arn=domain.attr_domain_name_arn,
            rest_api_id=self.api.rest_api_id,
            stage=self.api.deployment_stage.stage_name,
        )
        access = apigateway.CfnDomainNameAccessAssociation(
            self,
            "Access",
            domain_name_arn=domain.attr_domain_name_arn,
            access_association_source=self.endpoint_id,
            access_association_source_type="VPCE",
        )
        self.begins.append(domain)
        self.ends += [mapping, access]

    def follow(self, other: "PrivateDoor") -> None:
        """Is made when the other one is: API Gateway takes a new API, and a new name, only every so many seconds."""
        for mine in self.begins:
            mine.node.add_dependency(*other.ends)

    def find_it(self, name: str, network: Network, endpoint: ec2.CfnVPCEndpoint) -> None:
        """The name's record. The first of the endpoint's own names is that of all its zones; it has one."""
        hosted_zone, target = (Fn.select(at, Fn.split(":", Fn.select(0, endpoint.attr_dns_entries))) for at in (0, 1))
        route53.CfnRecordSet(
            self,
            "Record",
            hosted_zone_id=network.names,
            name=name,
            type="A",
            alias_target=route53.CfnRecordSet.AliasTargetProperty(dns_name=target, hosted_zone_id=hosted_zone),
        )
