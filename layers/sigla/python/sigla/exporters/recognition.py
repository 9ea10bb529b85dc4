"""How an exporter finds out whether the registry that it writes to is the one that it reads.

That one has the same mark (`ports.itself`), which no stranger knows. A question shows that the exporter has it, an
answer that the destination has it, and neither tells it; a registry with another mark learns nothing and answers
nothing. So no stranger can find out by it which registry stands behind which address.
"""

import re
import secrets
from collections.abc import Callable
from hmac import compare_digest, digest
from typing import Final

_QUESTION: Final = re.compile("([0-9a-f]{32})[.]([0-9a-f]{64})")
_ASKED: Final = "asked"
_ANSWERED: Final = "answered"


def new_question(mark: str) -> str:
    """One that was never asked before."""
    nonce = secrets.token_hex(16)
    return f"{nonce}.{_proof(mark, _ASKED, nonce)}"


def answer_to(question: str, read_mark: Callable[[], str]) -> str:
    """The answer of a registry with the same mark; empty where the question comes from another one.

    Raises what `read_mark` raises, which is not called for a text that is not a question.
    """
    found = _QUESTION.fullmatch(question)
    mark = read_mark() if found else ""
    if not found or not mark or not compare_digest(found[2], _proof(mark, _ASKED, found[1])):
        return ""
    return _proof(mark, _ANSWERED, found[1])


def is_answered(question: str, mark: str, answer: object) -> bool:
    """Whether an answer to a question with this mark was given by a registry that has it."""
    if not isinstance(answer, str) or not answer.isascii():
        return False
    return compare_digest(answer, _proof(mark, _ANSWERED, question.partition(".")[0]))


def _proof(mark: str, what: str, nonce: str) -> str:
    return digest(mark.encode(), f"{what} {nonce}".encode(), "sha256").hex()
