"""Races that are lost in a way of which the loser has to know more than that."""

from sigla.errors import Conflict
from sigla.model import BodyKey


class GoneMeanwhile(Conflict):
    """An id that was found living was deleted for good meanwhile, as the catalog says; its body may not say so yet."""

    def __init__(self, key: BodyKey) -> None:
        super().__init__(f"id {key.id} of context {key.context} was deleted for good meanwhile")
        self.key = key
