"""Two regions of one registry: what is told to the other one, and what becomes of it there.

docs/decisions/2026-11-28-replay.md has the rules.
"""
