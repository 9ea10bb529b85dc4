"""The keys by which tokens are verified: read where issuers publish them, every few minutes, for all functions."""

from sigla import wiring

handler = wiring.issuers_handler()
