"""The stores on one machine: a SQLite catalog with its journal, and a directory of bodies."""
