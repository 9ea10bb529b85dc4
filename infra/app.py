"""The CDK app: one stack per registry. cdk.json points here; `python -m infra.app` synthesises by itself."""

import os

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.settings import Settings
from infra.storage import Storage


def build(app: cdk.App) -> cdk.Stack:
    """The stack that the app's context describes, with AWS's checklist run over it: a finding fails the synthesis."""
    settings = Settings.read(app.node.get_all_context())
    # Account and region are the deployer's credentials', so that the template is the same for everybody.
    environment = cdk.Environment(
        account=os.environ.get("CDK_DEFAULT_ACCOUNT"), region=os.environ.get("CDK_DEFAULT_REGION")
    )
    stack = cdk.Stack(
        app,
        settings.stack_name,
        description=f"Sigla, a schema registry: {settings.registry_name}",
        env=environment,
    )
    storage = Storage(stack, "Storage", settings=settings)
    cdk.CfnOutput(stack, "BucketName", value=storage.bucket.bucket_name, description="Schema bodies and the journal")
    cdk.CfnOutput(stack, "TableName", value=storage.table.table_name, description="Ids, versions, settings")
    cdk.Validations.of(storage.bucket).acknowledge(
        cdk.Acknowledgment(
            id="AwsSolutions::AwsSolutions-S1",
            reason="Every body is versioned and cannot be deleted; a log bucket would cost more than what it watches.",
        )
    )
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks())
    return stack


if __name__ == "__main__":
    application = cdk.App()
    build(application)
    application.synth()
