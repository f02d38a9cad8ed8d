#!/usr/bin/env python3
"""Exit 0 if the gateway in this container answers `/healthz` with 200, else 1.

It uses only the standard library, because it runs every few seconds.
"""

import http.client
import os
import sys


def main() -> int:
    """Ask under a name that the gateway accepts: the first of its allowed hosts."""
    port = int(os.environ.get("GATEWAY_PORT") or 8700)
    host = os.environ.get("GATEWAY_ALLOWED_HOSTS", "").partition(",")[0].strip() or "127.0.0.1"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/healthz", headers={"Host": host})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        print(f"/healthz on port {port} does not answer: {error}", file=sys.stderr)
        return 1
    finally:
        connection.close()
    if status != 200:
        print(f"/healthz on port {port} answers {status} for the host {host}", file=sys.stderr)
    return 0 if status == 200 else 1


if __name__ == "__main__":
    sys.exit(main())
