"""`python -m gateway.authoring.contracts.meta [SCHEMAS]`: update the copies in `SCHEMAS/_meta`."""

import sys
from pathlib import Path

from gateway.authoring.contracts.meta import install

if __name__ == "__main__":
    written = install(Path(sys.argv[1] if len(sys.argv) > 1 else "schemas"))
    sys.stdout.write("".join(f"{file}\n" for file in written))
