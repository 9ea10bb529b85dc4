"""A registry in AWS as a construct of CDK, for an app of your own: `from sigla.cdk import Registry` (docs/cdk.md)."""

from importlib.util import find_spec

# Asked for alone, so that another module that is missing is named as what it is.
if find_spec("aws_cdk") is None:
    message = "sigla.cdk needs the AWS CDK, which the extra `cdk` brings: pip install 'sigla-registry[cdk]'"
    raise ModuleNotFoundError(message, name="aws_cdk")

from sigla.cdk.registry import Registry
from sigla.deployment.settings import InvalidSetting

__all__ = ["InvalidSetting", "Registry"]
