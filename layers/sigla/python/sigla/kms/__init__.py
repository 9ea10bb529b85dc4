"""Drivers of key services, by the type of a KEK: `drivers.py` has the table."""
