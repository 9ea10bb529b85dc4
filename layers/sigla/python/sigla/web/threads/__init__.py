"""Who does the work of a request: the loop itself, the thread that writes, those that read, those that compute long."""
