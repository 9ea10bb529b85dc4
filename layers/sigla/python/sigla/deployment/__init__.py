"""What is deployed to AWS, before anything of CDK: the settings, the packages, and where data and clients are.

It runs on a deployer's machine, and is part of no package that goes to AWS.
"""
