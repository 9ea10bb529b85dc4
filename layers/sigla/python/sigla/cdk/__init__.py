"""A registry in AWS as a construct of CDK, for an app of your own: `from sigla.cdk import Registry` (docs/cdk.md)."""

try:
    import aws_cdk as _  # noqa: F401 - asked for alone, so that another module that is missing is named as what it is
except ModuleNotFoundError as missing:
    message = "sigla.cdk needs the AWS CDK, which the extra `cdk` brings: pip install 'sigla-registry[cdk]'"
    raise ModuleNotFoundError(message, name=missing.name) from None

from sigla.cdk.registry import Registry
from sigla.deployment.settings import InvalidSetting

__all__ = ["InvalidSetting", "Registry"]
