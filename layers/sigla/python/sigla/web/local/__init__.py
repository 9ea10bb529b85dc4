"""The server of one machine: connections, threads, metrics."""
