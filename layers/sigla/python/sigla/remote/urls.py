"""URLs of registries."""

import re
from typing import Final
from urllib.parse import urlsplit

MISREAD: Final = (
    "an @ stands behind its host. In a password write %2F for /, %3F for ? and %23 for #; in a path %40 for @"
)


_IN_NO_HOST: Final = re.compile(r"[\x00-\x20\x7f]")


def is_url(text: str) -> bool:
    """Whether a registry can be asked there."""
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and has_host and not _IN_NO_HOST.search(parts.netloc)


def has_user(url: str) -> bool:
    """Whether it is a URL, and brings a user with it."""
    return is_url(url) and "@" in urlsplit(url).netloc


def is_misread(url: str) -> bool:
    """Whether an `@` stands behind what is read as the host: what stands before it may be a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return "@" in f"{parts.path}{parts.query}{parts.fragment}"


def shown_text(text: str) -> str:
    """What was to be a URL, without what it may have of secrets: a password with a slash makes it none."""
    return re.sub("//.*@", "//", text, flags=re.DOTALL)


def shown_url(url: str) -> str:
    """Without what it may have of secrets, without query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return shown_text(url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return shown_text(url) if is_misread(url) else bare._replace(query="", fragment="").geturl()
