"""LocalStack, listening on this machine alone. Runs inside LocalStack's own environment; localstack/up.py starts it.

LocalStack binds every IPv4 address whatever GATEWAY_LISTEN says, and a service whose every password is `test` has no
business on a network. Twisted takes the interface as an argument that LocalStack leaves out; it is put in here.
"""

from functools import partial

from twisted.internet import endpoints

from localstack.runtime.main import main

endpoints.TCP4ServerEndpoint = partial(endpoints.TCP4ServerEndpoint, interface="127.0.0.1")

if __name__ == "__main__":
    main()
