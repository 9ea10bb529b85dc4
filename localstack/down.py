"""`make localstack-down`: ends what `make localstack` started, and removes what it held."""

import argparse
import sys

from localstack.server import PORT, Server


def main() -> int:
    """The command: 0, whether there was one or not."""
    options = argparse.ArgumentParser(prog="python -m localstack.down", description="Stops LocalStack")
    options.add_argument("--port", type=int, default=PORT)
    server = Server.on(options.parse_args().port)
    print(
        "LocalStack is stopped."
        if server.stop()
        else f"Found no LocalStack started by make localstack on port {server.port}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
