"""Two regions of one registry: who takes writes, how far either may give ids, what is told to the other one.

`nouns` and `rules` say the first two, `giving` does it; docs/decisions/2026-11-24-ids-in-two-regions.md and
2026-11-28-roles-in-the-data.md have the reasons. `replay` says what becomes of a commit in the other region:
docs/decisions/2026-11-28-replay.md. `followed` and `follower` are the two sides where one asks the other, over `wire`:
docs/decisions/2026-11-28-following.md.
"""
