"""What must never be lost: the bucket of schema bodies and the table of everything else.

Both outlive the stack, and a stack can be given those of another one: kept after a teardown, restored, or shared.
`cdk destroy` leaves them where they are, and nothing in the account may change or remove an object of the bucket
unseen: that is a rule of the bucket, not a habit of the code that writes to it.
"""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from sigla.cdk.parts.checklist import acknowledge
from sigla.deployment import bucket_policy
from sigla.deployment.settings import Settings

# The longest that DynamoDB offers; as long as the table keeps its journal rows, so either can rebuild the other.
RECOVERY_DAYS = 35


class Storage(Construct):
    """The bucket and the table of one registry: made here, or there already where settings name them."""

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        # LocalStack's data goes with its process; a stack that cannot be deleted there would only be in the way.
        self.removal = RemovalPolicy.DESTROY if settings.local else RemovalPolicy.RETAIN
        self.bucket: s3.IBucket
        self.table: dynamodb.ITable
        if settings.bucket_name:
            self.bucket = s3.Bucket.from_bucket_name(self, "Bodies", settings.bucket_name)
        else:
            self.bucket = self.new_bucket()
        if settings.table_name:
            self.table = dynamodb.Table.from_table_attributes(
                self,
                "Catalog",
                table_name=settings.table_name,
                table_stream_arn=settings.table_stream_arn or None,
            )
        else:
            self.table = self.new_table(local=settings.local)

    def new_bucket(self) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Bodies",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=self.removal,
            versioned=True,
        )
        for statement in bucket_policy.statements(bucket.bucket_arn):
            bucket.add_to_resource_policy(iam.PolicyStatement.from_json(statement))
        # What protects the bucket stays where the bucket does.
        bucket.policy.apply_removal_policy(self.removal)
        acknowledge(
            bucket,
            "S1",
            "Every body is versioned and cannot be deleted; a bucket for access logs would cost more than this bucket.",
        )
        return bucket

    def new_table(self, *, local: bool) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            "Catalog",
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            deletion_protection=not local,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True, recovery_period_in_days=RECOVERY_DAYS
            ),
            removal_policy=self.removal,
            # A journal row says what changed; the row that was there before has no reader. LocalStack would have to
            # download what streams need.
            stream=None if local else dynamodb.StreamViewType.NEW_IMAGE,
            time_to_live_attribute="expires",  # of journal rows, which are in the bucket by then
        )
