"""Subnets that say in which zone they are: LocalStack's CloudFormation does not where a zone is given by its id."""

from typing import Any

from localstack.services.ec2.resource_providers.aws_ec2_subnet import EC2SubnetProvider

_create = EC2SubnetProvider.create


def create(self: Any, request: Any) -> Any:
    """With the attributes AvailabilityZone and AvailabilityZoneId, as AWS has them."""
    event = _create(self, request)
    found = request.aws_client_factory.ec2.describe_subnets(SubnetIds=[event.resource_model["SubnetId"]])
    (subnet,) = found["Subnets"]
    event.resource_model |= {name: subnet[name] for name in ("AvailabilityZone", "AvailabilityZoneId")}
    return event


def install() -> None:
    """Makes them LocalStack's."""
    EC2SubnetProvider.create = create
