"""A zone's way to a service of AWS that has no gateway: an interface endpoint in its subnet, for its function alone.

It has a price by the hour. In a VPC only one endpoint may take over the service's own name, and each zone owns its
endpoint: so the function is told a name of the endpoint's own, as botocore takes it. Source: AWS Key Management Service
Developer Guide, "Connect to AWS KMS through a VPC endpoint"; AWS SDKs and Tools Reference Guide, "Service-specific
endpoints".
"""

from collections.abc import Sequence

from aws_cdk import Aws, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from sigla.cdk.parts.network import HTTPS, Network, Subnet, security_group


class ServiceEndpoint(Construct):
    """variables: what the function is told. resource: what AWS may replace, and then it has another name.

    service: as AWS names it, such as kms. actions, on: what it lets through, and to which resources.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        network: Network,
        subnet: Subnet,
        client: ec2.CfnSecurityGroup,
        service: str,
        actions: Sequence[str],
        on: Sequence[str],
    ) -> None:
        super().__init__(scope, name)
        from_the_function = ec2.CfnSecurityGroup.IngressProperty(
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            source_security_group_id=client.attr_group_id,
            description="From the function",
        )
        guard = security_group(
            self,
            "Guard",
            network=network,
            description=f"Sigla, the way to {service}: HTTPS from the function",
            comes_in=(from_the_function,),
        )
        lets_through = iam.PolicyStatement(
            principals=[iam.AnyPrincipal()], actions=[f"{service}:{action}" for action in actions], resources=list(on)
        )
        self.resource = ec2.CfnVPCEndpoint(
            self,
            "Endpoint",
            vpc_id=network.vpc_id,
            vpc_endpoint_type="Interface",
            service_name=f"com.amazonaws.{Aws.REGION}.{service}",
            subnet_ids=[subnet.id],
            security_group_ids=[guard.attr_group_id],
            private_dns_enabled=False,
            policy_document=iam.PolicyDocument(statements=[lets_through]),
        )
        # The first of the endpoint's own names, after its hosted zone, is that of all its zones; it has one.
        host = Fn.select(1, Fn.split(":", Fn.select(0, self.resource.attr_dns_entries)))
        self.variables = {f"AWS_ENDPOINT_URL_{service.upper()}": f"https://{host}"}
