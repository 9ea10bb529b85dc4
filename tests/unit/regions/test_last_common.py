"""Where two journals went apart is found without reading all of their rows."""

import pytest

from sigla.regions.replay import last_common


@pytest.mark.parametrize("end", [0, 1, 2, 7, 64])
def test_the_last_row_that_both_have_is_found_wherever_they_went_apart(end: int) -> None:
    for common in range(end + 1):
        asked: list[int] = []

        def is_same(position: int, common: int = common, asked: list[int] = asked) -> bool:
            asked.append(position)
            return position <= common

        assert last_common(end, is_same) == common
        assert all(1 <= position <= end for position in asked)
        assert len(asked) <= end.bit_length()
