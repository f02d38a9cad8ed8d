"""Serves the bare answer with uvicorn, as the gateway does: `bare_uvicorn.py [gateway]`.

With `gateway`, connections have the gateway's own protocol.
"""

import sys

from bare_answer import answer
from serving import serve

from gateway.transports.connections.connection import Connection

if __name__ == "__main__":
    serve(answer, Connection if sys.argv[1:] == ["gateway"] else "httptools")
