"""The settings `regions.…`."""

import re
from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together, is_known
from sigla.settings import BEST_EFFORT, FOLLOWER, PRIMARY, REQUIRED, Address


@dataclass(frozen=True, slots=True)
class RegionsChoices:
    """The other region of the registry.

    peer: where its stack keeps the registry there, `dynamodb+s3://TABLE/BUCKET?region=REGION`, in the same account;
        empty: the registry has one region.
    role: what this one is to be, as long as its data do not say: `primary`, or `follower`, whose stores are empty.
    bodies: what becomes of a registration whose schema the other region does not take in time: it is refused
        (`required`), or goes on and is told (`best_effort`).
    url: of the registry in the other region, where requests go on that only a primary may answer; empty: they are
        refused where this one follows.
    peer_key_arn: of the KMS key that encrypts what is stored there; empty: none of the account does.
    """

    peer: str = ""
    role: str = PRIMARY
    bodies: str = BEST_EFFORT
    url: str = ""
    peer_key_arn: str = ""

    @property
    def table(self) -> str:
        return Address(self.peer).names[0]

    @property
    def bucket(self) -> str:
        return Address(self.peer).names[1]

    @property
    def region(self) -> str:
        """That of the peer."""
        return Address(self.peer).region or ""

    def bus(self, partition: str, account: str) -> str:
        """The ARN of the default bus of EventBridge there."""
        return f"arn:{partition}:events:{self.region}:{account}:event-bus/default"


RULES: Rules = {
    "peer": (
        re.compile(
            r"(dynamodb\+s3://[A-Za-z0-9_.-]{3,255}/[a-z0-9.-]{3,63}\?region=[a-z]{2,6}(-[a-z]+)+-\d)?"
        ).fullmatch,
        "it must be dynamodb+s3://TABLE/BUCKET?region=REGION, or empty",
    ),
    "role": (lambda value: value in (PRIMARY, FOLLOWER), f"it must be {PRIMARY} or {FOLLOWER}"),
    "bodies": (lambda value: value in (REQUIRED, BEST_EFFORT), f"it must be {REQUIRED} or {BEST_EFFORT}"),
    "url": (
        re.compile(r"(https?://[^/\s?#@]+(/[^\s?#@]*)?)?").fullmatch,
        "it must be a URL of the registry in the other region, https://HOST, or empty",
    ),
    "peer_key_arn": (
        re.compile(r"(arn:aws[\w-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+)?").fullmatch,
        "it must be the ARN of a KMS key (…:key/ID), or empty",
    ),
}

TOGETHER: Together = (
    (
        lambda given: given.peer or given.role == PRIMARY,
        "regions.role is of one of two regions: set regions.peer, too.",
    ),
    (
        lambda given: given.peer or not given.url,
        "regions.url is of the other one of two regions: set regions.peer, too.",
    ),
    (
        lambda given: given.peer or given.bodies == BEST_EFFORT,
        "regions.bodies is of one of two regions: set regions.peer, too.",
    ),
    (
        lambda given: given.peer or not given.peer_key_arn,
        "regions.peer_key_arn is of the other one of two regions: set regions.peer, too.",
    ),
    (
        lambda given: (
            not (given.peer and given.peer_key_arn and is_known(given.peer) and is_known(given.peer_key_arn))
            or given.peer_key_arn.split(":")[3] == given.region
        ),
        "regions.peer_key_arn must be a key of the region that regions.peer names.",
    ),
)
