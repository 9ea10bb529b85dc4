"""A registry in AWS as constructs of CDK: the extra `cdk`."""
