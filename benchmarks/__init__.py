"""How fast Sigla is, on this machine, beside something everybody knows. `make bench` runs all of it.

Each module measures one thing, says in its first paragraph against what, and in its last why the figure may mislead.
A ratio compares two things that ran in turns during the same minutes, so that a busy or a slow machine hurts both.
"""
