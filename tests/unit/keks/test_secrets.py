"""Objects that bear a secret do not tell it in their text: texts end in messages, in tracebacks and in logs."""

import pytest

from sigla.keks.material import Material
from sigla.keks.nouns import Algorithm, Dek, Kek, KekDraft
from sigla.keks.verbs.deks import ShownDek
from sigla.ports.kms import KmsKey

PROPS = {"secret": "hush"}


@pytest.mark.parametrize(
    "bearer",
    [
        Kek("k", "local-kms", "id", PROPS),
        KekDraft("k", "local-kms", "id", PROPS),
        KmsKey("local-kms", "id", PROPS),
        Material("wrapped", "hush"),
        ShownDek(Dek("k", "s", Algorithm.AES256_GCM, 1, "wrapped"), "hush"),
    ],
    ids=lambda bearer: type(bearer).__name__,
)
def test_no_text_of_an_object_tells_its_secret(bearer: object) -> None:
    """Whoever adds a line to a log a year from now will not think of it."""
    assert "hush" not in f"{bearer} {bearer!r}"
