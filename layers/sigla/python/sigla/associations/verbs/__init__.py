"""What is done with associations: the order of checks, and the commits."""
