"""Who is told when an alarm rings: whoever has to get up, and whoever reads it in the morning."""

from aws_cdk import Aws
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from sigla.deployment.settings import Settings


class Recipients(Construct):
    """pages: where alarms go that cannot wait. notes: where all others go.

    An address of `watch.email` gets both, by a topic of our own, since a mail does not wake people.
    """

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        mail = self.mail(settings) if settings.watch.email else None
        self.pages = self.told("Pages", settings.watch.topic_arn, mail)
        self.notes = self.told("Notes", settings.watch.notes_topic_arn, mail)

    def told(self, name: str, arn: str, mail: sns.ITopic | None) -> list[cloudwatch.IAlarmAction]:
        topics = [sns.Topic.from_topic_arn(self, name, arn)] if arn else []
        return [actions.SnsAction(each) for each in (*topics, *([mail] if mail else []))]

    def mail(self, settings: Settings) -> sns.Topic:
        """AWS asks the address once whether it wants to hear. What is sent names the alarm and no schema.

        With a policy of our own CloudWatch must be let in by name, and no other account's.
        """
        topic = sns.Topic(self, "Mail", display_name=f"Sigla {settings.registry_name}", enforce_ssl=True)
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsOfThisAccount",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        sns.Subscription(
            self, "Address", topic=topic, protocol=sns.SubscriptionProtocol.EMAIL, endpoint=settings.watch.email
        )
        return topic
