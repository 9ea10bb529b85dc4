"""Confluent's API: the table of routes, an endpoint for each verb, and how JSON is read and written."""
