"""Bodies and API keys as objects of one bucket."""
