"""URLs of registries."""

import re
from urllib.parse import urlsplit


def is_url(text: str) -> bool:
    """Whether a registry can be asked there."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def shown_text(text: str) -> str:
    """What was to be a URL, without what it may have of secrets: a password with a slash makes it none."""
    return re.sub("//.*@", "//", text, flags=re.DOTALL)


def shown_url(url: str) -> str:
    """Without what it may have of secrets, without query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
