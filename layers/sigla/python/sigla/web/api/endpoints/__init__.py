"""One function per route: read the request, ask one verb, render what it says. A file per kind of resource."""
