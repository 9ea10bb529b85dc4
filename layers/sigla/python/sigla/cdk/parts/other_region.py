"""What a registry's functions may do in its other region: few things, and nothing that stands there is replaced."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from sigla.cdk.parts.actions import HANDED, OBJECTS
from sigla.cdk.parts.functions import allow, use_of_a_key
from sigla.deployment.settings import Settings


def of_roles(settings: Settings, *more: str) -> list[iam.PolicyStatement]:
    """What the registry's other region is, and how far ids are given: that region is told before this one goes on.

    more: further actions on these rows.
    """
    other = settings.regions
    if not other.peer:
        return []
    rows = [f"{settings.registry_name}#{each}" for each in ("g", "region#*", "x#*")]
    bound = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": rows}}
    actions = ("dynamodb:ConditionCheckItem", "dynamodb:UpdateItem", *more)
    return [
        allow("OtherRole", *actions, on=[arn_of_table(settings)], when=bound),
        *use_of_a_key("OtherKey", other.peer_key_arn, other.region),
    ]


def of_bodies(settings: Settings) -> list[iam.PolicyStatement]:
    """Bodies and pointers are put into the other region's bucket before a commit, where nothing stands yet."""
    other = settings.regions
    if not other.peer:
        return []
    objects = [f"{arn_of_bucket(settings)}/{settings.registry_name}/{each}/*" for each in OBJECTS]
    created = {"Null": {"s3:if-none-match": "false"}}
    named = {"StringLikeIfExists": {"s3:prefix": [f"{settings.registry_name}/schemas/*"]}}
    return [
        allow("OtherBodies", "s3:PutObject", on=objects, when=created),
        allow("OtherObjects", "s3:GetObject", on=objects),
        allow("OtherNames", "s3:ListBucket", on=[arn_of_bucket(settings)], when=named),
    ]


def of_commits(settings: Settings) -> list[iam.PolicyStatement]:
    """What that region has committed at the wish of a client of this one, which is to read it here."""
    if not settings.regions.peer:
        return []
    bound = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{settings.registry_name}#j#*"]}}
    return [allow("OtherCommits", "dynamodb:BatchGetItem", "dynamodb:Query", on=[arn_of_table(settings)], when=bound)]


def of_keys(settings: Settings, own: list[str]) -> list[iam.PolicyStatement]:
    """Commits of keys for field encryption are put there before they are made, and looked for here where it did so.

    own: what that region hands over here, as objects of this region's bucket.
    """
    if not settings.regions.peer:
        return []
    there = [f"{arn_of_bucket(settings)}/{settings.registry_name}/{HANDED}/*"]
    created = {"Null": {"s3:if-none-match": "false"}}
    return [
        allow("OtherKeys", "s3:PutObject", on=[*there, *own], when=created),
        allow("OtherHanded", "s3:GetObject", on=[*there, *own]),
    ]


def arn_of_bucket(settings: Settings) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{settings.regions.bucket}"


def arn_of_table(settings: Settings) -> str:
    other = settings.regions
    return f"arn:{Aws.PARTITION}:dynamodb:{other.region}:{Aws.ACCOUNT_ID}:table/{other.table}"
