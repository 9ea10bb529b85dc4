"""What the API does with keys: ask once, decide, commit once, as all verbs of the registry.

Each verb is a function over `Resources`; its first lines are the checks, in the contract's order.
"""
