"""Jobs over records and registries: landing tables, loading a topic, audits and scrubs, on one machine or on Spark."""
