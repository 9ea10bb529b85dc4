"""The settings `platform.…`: what an organisation asks of every stack in its accounts."""

import re
from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together, listed


@dataclass(frozen=True, slots=True)
class Platform:
    """What holds for the whole stack.

    key_arn: of a KMS key that encrypts all that the stack stores; empty: keys that AWS owns.
    permissions_boundary: the ARN of the policy that bounds every role of the stack.
    iam_path: of every role of the stack.
    tags: of everything that can have tags: NAME=VALUE, separated by commas.
    keep_logs: log groups stay when what wrote them goes; their lines expire after `log_days` all the same.
    """

    key_arn: str = ""
    permissions_boundary: str = ""
    iam_path: str = "/"
    tags: str = ""
    keep_logs: bool = True

    @property
    def tag_values(self) -> dict[str, str]:
        """Each tag's value by its name."""
        return dict(_pair(each) for each in listed(self.tags))


_WORD = r"[\w .:/=+@-]"
_TAG = re.compile(rf"(?!aws:){_WORD.replace('=', '')}{{1,128}}={_WORD}{{0,256}}", re.IGNORECASE)


def _pair(tag: str) -> tuple[str, str]:
    name, _, value = tag.partition("=")
    return name.strip(), value.strip()


def _are_tags(value: str) -> bool:
    """Each name once: of two values one would be lost."""
    tags = listed(value)
    return all(map(_TAG.fullmatch, tags)) and len({_pair(each)[0] for each in tags}) == len(tags) <= MOST_TAGS


MOST_TAGS = 40
"""AWS takes fifty of a resource, those included that CloudFormation adds."""

RULES: Rules = {
    "key_arn": (
        # By its own ARN: CloudWatch Logs takes no alias.
        lambda value: re.fullmatch(r"(arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key/[0-9a-z-]+)?", value),
        "it must be the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/ID, or empty",
    ),
    "permissions_boundary": (
        lambda value: re.fullmatch(r"(arn:[a-z-]+:iam::(\d{12}|aws):policy/[\w+=,.@/-]+)?", value),
        "it must be the ARN of an IAM policy, or empty",
    ),
    "iam_path": (
        lambda value: re.fullmatch(r"/([\w+=,.@-]+/)*", value) and len(value) <= 512,
        "it must begin and end with a slash, such as /teams/data/",
    ),
    "tags": (
        _are_tags,
        f"it must be up to {MOST_TAGS} tags as NAME=VALUE, separated by commas, each name once, none with aws: first",
    ),
}

TOGETHER: Together = ()
