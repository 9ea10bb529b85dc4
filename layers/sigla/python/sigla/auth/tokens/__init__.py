"""Bearer tokens: which issuers are believed, what a token must be, and whose key signed it."""
