from collections.abc import Iterator

import pytest

from tests.loops import threads_loop


@pytest.fixture(autouse=True, scope="module")
def loop() -> Iterator[None]:
    """What handlers run on."""
    with threads_loop():
        yield
