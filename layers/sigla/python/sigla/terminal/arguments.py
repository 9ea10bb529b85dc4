"""Types of arguments, for argparse. All raise ArgumentTypeError, with what would be right."""

import argparse
import math
import re
from pathlib import Path


def name_argument(text: str) -> str:
    """A name: the empty text of a variable that is not set would mean another place."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty: say which, or leave it out")
    return text


def path_argument(text: str) -> Path:
    return Path(name_argument(text))


def bucket_argument(text: str) -> str:
    """A bucket's name, or the ARN of an access point to one."""
    if not re.fullmatch(r"[A-Za-z0-9._-]*|arn:.+", name_argument(text)):
        raise argparse.ArgumentTypeError(f"Invalid bucket {text!r}: expected its name alone, without s3:// and paths.")
    return text


def context_argument(text: str) -> str:
    """The name of a context."""
    if not name_argument(text).startswith("."):
        raise argparse.ArgumentTypeError(f"invalid context '{text}': a context begins with a dot, so write .{text}")
    if ":" in text:
        raise argparse.ArgumentTypeError(f"invalid context '{text}': a context cannot contain a colon")
    return text


def seconds_argument(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found * 1000 < math.inf:
        raise argparse.ArgumentTypeError(f"invalid number of seconds {text!r}")
    return found
