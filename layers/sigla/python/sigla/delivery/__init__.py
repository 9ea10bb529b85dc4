"""How a deployment comes into an account: who is asked, what is compared, and what CloudFormation is given.

`sigla deploy` and this repository's own `make deploy` both begin here. It is part of no package that goes to AWS.
"""
