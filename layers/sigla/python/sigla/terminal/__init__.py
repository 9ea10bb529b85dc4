"""What a command line is given and what it says, the same for `sigla` and for the jobs of `pipelines`."""
