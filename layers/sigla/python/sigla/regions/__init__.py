"""Two regions of one registry: who takes writes, how far either may give ids, what is told to the other one.

    what a region is       nouns, names, standing (as requests of a function ask), installed and installed_here (what
                           it runs), refusals
    how ids are given      rules, pure; giving, in which order; adoption, of what was given before a promotion by force
    before a commit        bodies and handed_keys, in AWS; handing, of servers: what the other region has by then
    one follows the other  replay, what becomes of a commit there; shipping and shipped, on its way; following, until
                           nothing is left. Servers: followed and follower, the two sides, over wire. Requests: moved,
                           what they have written there; absence, what is concluded from nothing
    who takes writes       arming, a registry gets its second region; promotion, with draining and lacking; rejoining

`giving`, `arming`, `promotion` and `rejoining` are courses: generators that yield what is asked of either region, so
that tests let anything come in between. What a store does of it is in `stores/*/regions.py`, `replaying.py` and
`promoting.py`; a server that runs is kept by `second_region`.

Why: docs/decisions/2026-11-24-ids-in-two-regions.md, 2026-11-28-roles-in-the-data.md, 2026-11-28-replay.md,
2026-11-28-following.md.
"""
