"""What must never be lost: the bucket of schema bodies and the table of everything else.

Both outlive the stack. `cdk destroy` leaves them where they are, and nothing in the account may change or remove an
object of the bucket unseen: that is a rule of the bucket, not a habit of the code that writes to it.
"""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.settings import Settings

# The longest that DynamoDB offers; as long as the table keeps its journal rows, so either can rebuild the other.
RECOVERY_DAYS = 35


class Storage(Construct):
    """The bucket and the table of one registry."""

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        self.bucket = s3.Bucket(
            self,
            "Bodies",
            bucket_name=settings.bucket_name or None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=RemovalPolicy.RETAIN,
            versioned=True,
        )
        self.bucket.add_to_resource_policy(self.only_conditional_puts())
        self.bucket.add_to_resource_policy(self.no_deletes())
        self.table = dynamodb.Table(
            self,
            "Catalog",
            table_name=settings.table_name or None,
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            deletion_protection=True,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True, recovery_period_in_days=RECOVERY_DAYS
            ),
            removal_policy=RemovalPolicy.RETAIN,
            # A journal row says what changed; the row that was there before has no reader.
            stream=dynamodb.StreamViewType.NEW_IMAGE,
        )

    def only_conditional_puts(self) -> iam.PolicyStatement:
        """A put must say `If-None-Match` (this is new) or `If-Match` (this replaces what I saw); neither is refused.

        Conditions of one statement are joined by "and": it denies where both headers are missing. The parts of a
        multipart upload cannot carry them, and its completion, which can, is the put that counts: hence
        ObjectCreationOperation. Copying into the bucket fails too. Source: Amazon S3 User Guide, "Enforce conditional
        writes".
        """
        return iam.PolicyStatement(
            sid="PutsAreConditional",
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=["s3:PutObject"],
            resources=[self.bucket.arn_for_objects("*")],
            conditions={
                "Null": {"s3:if-none-match": "true", "s3:if-match": "true"},
                "Bool": {"s3:ObjectCreationOperation": "true"},
            },
        )

    def no_deletes(self) -> iam.PolicyStatement:
        """Nobody removes a body: records in Kafka go on naming its id. A permanent delete puts a tombstone over it."""
        return iam.PolicyStatement(
            sid="NothingIsDeleted",
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=["s3:DeleteObject", "s3:DeleteObjectVersion"],
            resources=[self.bucket.arn_for_objects("*")],
        )
