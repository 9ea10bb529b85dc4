"""What a deployer may choose: one frozen record, read once from CDK's context.

The defaults stand in cdk.json too, where `cdk` looks for them; a deployer changes them there or on the command line
(`cdk deploy -c registry_name=payments`). A name that is not known is refused: a typo must not become a default.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of one deployment.

    stack_name: of the CloudFormation stack; two registries in one account and region need two.
    registry_name: the isolated metadata space this stack serves; the first component of every stored name.
    bucket_name, table_name: empty lets CloudFormation draw a free name, which is also what lets a stack be made twice.
    """

    stack_name: str = "sigla"
    registry_name: str = "default"
    bucket_name: str = ""
    table_name: str = ""

    def __post_init__(self) -> None:
        # It becomes part of S3 keys, DynamoDB keys and metric names, all of which take these as they are.
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", self.registry_name):
            message = f"registry_name {self.registry_name!r}: 1 to 63 of a-z, 0-9 and '-', not '-' first"
            raise ValueError(message)

    @classmethod
    def read(cls, context: Mapping[str, Any]) -> Self:
        """The settings of a context. CDK keeps its own affairs there too, under names with ':' or '/'."""
        ours = {name: value for name, value in context.items() if not re.search(r"[:/]", name)}
        unknown = sorted(ours.keys() - {field.name for field in fields(cls)})
        if unknown:
            message = f"unknown settings {unknown}; known are {[field.name for field in fields(cls)]}"
            raise ValueError(message)
        return cls(**ours)
