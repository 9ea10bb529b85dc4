"""The health check of a container: ends with 0 where the registry takes writes. By TLS where the registry has it."""

import os
import ssl
import sys
from http.client import HTTPConnection, HTTPSConnection

PORT = int(os.environ.get("HEALTH_PORT", "8081"))

connection = HTTPConnection("127.0.0.1", PORT, timeout=4)
if os.environ.get("SIGLA_TLS_CERT"):
    # Whom the certificate is for matters to those who come from elsewhere.
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    connection = HTTPSConnection("127.0.0.1", PORT, timeout=4, context=unverified)
connection.request("GET", "/health/ready")
sys.exit(connection.getresponse().status != 200)
