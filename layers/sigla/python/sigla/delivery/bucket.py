"""The bucket of an account from which CloudFormation reads: templates, and packages under names that say their content.

It belongs to the account, and to every registry in it. Nothing in it is a secret, or is missed once it is deployed.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sigla.delivery.guard import NotDeployed

NAME: Final = "sigla-packages-{account}-{region}"
ABSENT: Final = 404
NO_LOCATION: Final = "us-east-1"
"""The region that S3 means where a bucket is made without one, and which it does not take by name."""


@dataclass(frozen=True, slots=True)
class PackagesBucket:
    """client: of S3 in the region. account: whose bucket it has to be."""

    client: Any
    account: str
    region: str

    @property
    def name(self) -> str:
        """One in each account and region."""
        return NAME.format(account=self.account, region=self.region)

    def make(self) -> None:
        """Makes it, encrypted and closed to the public, or not at all; unless it is there. Raises NotDeployed."""
        if self._has(lambda: self.client.head_bucket(**self._ours())):
            return
        where = {} if self.region == NO_LOCATION else {"LocationConstraint": self.region}
        self.client.create_bucket(
            Bucket=self.name,
            ObjectOwnership="BucketOwnerEnforced",
            **({"CreateBucketConfiguration": where} if where else {}),
        )
        try:
            self._close_and_encrypt()
        except BaseException:
            # The next deployment would take it as it is.
            with suppress(ClientError, BotoCoreError):
                self.client.delete_bucket(**self._ours())
            raise

    def _close_and_encrypt(self) -> None:
        closed = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
        self.client.put_public_access_block(**self._ours(), PublicAccessBlockConfiguration=dict.fromkeys(closed, True))
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
        self.client.put_bucket_encryption(**self._ours(), ServerSideEncryptionConfiguration={"Rules": [rule]})

    def put_template(self, body: bytes) -> str:
        """Its URL, as CloudFormation reads it: in the bucket's own region, as CDK names it."""
        key = f"templates/{hashlib.sha256(body).hexdigest()}.json"
        self.client.put_object(**self._ours(), Key=key, Body=body)
        return f"{self.client.meta.endpoint_url}/{self.name}/{key}"

    def put(self, key: str, content: Callable[[], bytes]) -> bool:
        """Whether it had to be put there: what has the name has the content."""
        if self._has(lambda: self.client.head_object(**self._ours(), Key=key)):
            return False
        self.client.put_object(**self._ours(), Key=key, Body=content())
        return True

    def _ours(self) -> dict[str, str]:
        """A bucket of this name in another account gets nothing."""
        return {"Bucket": self.name, "ExpectedBucketOwner": self.account}

    def _has(self, look: Callable[[], object]) -> bool:
        """Raises NotDeployed."""
        try:
            look()
        except ClientError as refused:
            if refused.response["ResponseMetadata"]["HTTPStatusCode"] == ABSENT:
                return False
            raise NotDeployed(
                f"S3 did not let these credentials use the bucket {self.name} ({refused.response['Error']['Code']}): "
                "it belongs to another account, or s3:ListBucket and s3:GetObject are missing."
            ) from None
        return True
