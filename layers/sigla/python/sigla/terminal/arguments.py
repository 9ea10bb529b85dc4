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


UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
LONGEST_MS = 100 * 366 * UNITS_MS["d"]


def duration_argument(text: str) -> int:
    """Milliseconds: `90d`, `12h`, `0`."""
    found = re.fullmatch(r"([0-9]{1,9})([smhdw])|0", text)
    lasts_ms = int(found[1]) * UNITS_MS[found[2]] if found and found[1] else 0
    if not found or lasts_ms > LONGEST_MS:
        raise argparse.ArgumentTypeError(
            f"Invalid duration {text!r}: expected a number and a unit, s, m, h, d or w, as in 90d; at most 100 years."
        )
    return lasts_ms


def seconds_argument(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found * 1000 < math.inf:
        raise argparse.ArgumentTypeError(f"invalid number of seconds {text!r}")
    return found
