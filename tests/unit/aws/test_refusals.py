"""What will never be done, however often it is asked, is told apart from what may be over in a minute."""

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from sigla.aws.refusals import failed
from sigla.errors import StoreError, Unusable
from sigla.model import BodyKey, SchemaId
from sigla.stores.dynamodb.actions import put
from sigla.stores.dynamodb.table import Table
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from tests.build import FixedClock
from tests.contract.aws import Account, engine

__all__ = ["engine"]


def test_a_table_that_is_not_there_is_unusable(engine: Account) -> None:
    with engine.stores() as stores:
        table = Table(stores.dynamodb, "nobodys", FixedClock())
        for ask in (
            lambda: table.get(("p", "s")),
            lambda: list(table.query("p")),
            lambda: table.transact([put(("p", "s"), {})]),
        ):
            with pytest.raises(Unusable, match="DynamoDB refused"):
                ask()


def test_a_bucket_that_is_not_there_is_unusable(engine: Account) -> None:
    with engine.stores() as stores:
        bodies = AwsBodies(Objects(stores.s3, "nobodys", clock=FixedClock()), registry="default")
        with pytest.raises(Unusable, match=r"failed in S3: .*NoSuchBucket"):
            bodies.get(BodyKey(".", SchemaId(1)))


@pytest.mark.parametrize(
    "failure, kind",
    [
        (ClientError({"Error": {"Code": "AccessDeniedException", "Message": "m"}}, "Query"), Unusable),
        (ClientError({"Error": {"Code": "ExpiredToken", "Message": "m"}}, "GetObject"), Unusable),
        (NoCredentialsError(), Unusable),
        (ClientError({"Error": {"Code": "InternalServerError", "Message": "m"}}, "Query"), StoreError),
        (ClientError({"Error": {"Code": "SlowDown", "Message": "m"}}, "GetObject"), StoreError),
        (EndpointConnectionError(endpoint_url="http://x"), StoreError),
    ],
)
def test_who_asks_in_vain_is_told_so(failure: ClientError, kind: type[StoreError]) -> None:
    told = failed("asking", failure)
    assert type(told) is kind
    assert str(told) == f"asking: {failure}"
