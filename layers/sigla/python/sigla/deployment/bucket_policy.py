"""The policy of the bucket of bodies: nothing is removed, nothing is replaced unseen, and TLS is recent.

python -m sigla.deployment.bucket_policy BUCKET [REGION] >bucket-policy.json

A bucket of the stack's own has it from the start (cdk/storage.py). To one that is there already (`bucket_name`), and
perhaps another's, the stack does nothing: whoever owns it gives it this.
"""

import argparse
import json
from typing import Any

from sigla.deployment.choices.rules import BUCKET_EXPECTED, is_bucket
from sigla.deployment.partitions import partition_of

LEAST_TLS = 1.2


def policy(bucket: str, region: str = "") -> dict[str, Any]:
    """The document, for a bucket of this name. region: where ARNs do not begin with `arn:aws`."""
    return {"Version": "2012-10-17", "Statement": statements(f"arn:{partition_of(region)}:s3:::{bucket}")}


def statements(bucket: str) -> list[dict[str, Any]]:
    """What no principal may do, with administrator's rights or without, for a bucket with this ARN.

    A put must say `If-None-Match` (this is new) or `If-Match` (this replaces what I saw); neither is refused.
    Conditions of one statement are joined by "and": it denies where both headers are missing. The parts of a
    multipart upload cannot carry them, and its completion, which can, is the put that counts: hence
    ObjectCreationOperation. Copying into the bucket fails too. Source: Amazon S3 User Guide, "Enforce conditional
    writes".

    Bodies are never removed: records in Kafka go on naming their ids. A permanent delete puts a tombstone over it.
    """
    objects = f"{bucket}/*"
    unseen = {
        "Null": {"s3:if-none-match": "true", "s3:if-match": "true"},
        "Bool": {"s3:ObjectCreationOperation": "true"},
    }
    return [
        _denied("TlsIsNeeded", "s3:*", on=[bucket, objects], when={"Bool": {"aws:SecureTransport": "false"}}),
        _denied("TlsIsRecent", "s3:*", on=[bucket, objects], when={"NumericLessThan": {"s3:TlsVersion": LEAST_TLS}}),
        _denied("PutsAreConditional", "s3:PutObject", on=objects, when=unseen),
        _denied("NothingIsDeleted", ["s3:DeleteObject", "s3:DeleteObjectVersion"], on=objects),
    ]


def _denied(name: str, action: object, *, on: object, when: dict[str, Any] | None = None) -> dict[str, Any]:
    statement = {"Sid": name, "Effect": "Deny", "Principal": {"AWS": "*"}, "Action": action, "Resource": on}
    return statement | ({"Condition": when} if when else {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m sigla.deployment.bucket_policy", description="Prints the policy of a bucket for Sigla"
    )
    parser.add_argument("bucket", help="the name of the bucket")
    parser.add_argument("region", nargs="?", default="", help="the region; needed in China and in GovCloud")
    asked = parser.parse_args()
    if not asked.bucket or not is_bucket(asked.bucket):
        expected = BUCKET_EXPECTED.removesuffix(", or empty").removeprefix("it must be ")
        parser.error(f"Invalid bucket {asked.bucket!r}: expected {expected}.")
    print(json.dumps(policy(asked.bucket, asked.region), indent=2))
