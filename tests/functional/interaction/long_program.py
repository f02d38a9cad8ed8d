"""A process that promises jobs until a failpoint kills it: `python … FOLDER DATABASE`.

It prints the id of each job that it was promised.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any, Final

from tests.eventually import PATIENCE_SECONDS
from tests.interaction.long_site import ADA, AUTO, REQUIRED, SUM, Acts, LongSite, open_site

EFFECTS: Final = "effects"
CALLS: Final = 10
LEASE_SECONDS: Final = 3.0
"""Short, because the next process waits until the claims of this one have ended."""


class NotedActs(Acts):
    """Notes each effect in a file, so that it outlives the process."""

    folder: Path

    async def _act(self, context: Any) -> None:
        with (self.folder / EFFECTS).open("a") as file:
            file.write(f"{context.call.id}\n")
        await asyncio.sleep(0.1)
        await super()._act(context)


def noted(folder: Path) -> NotedActs:
    """What ends at once."""
    acts = NotedActs()
    acts.folder = folder
    acts.release.set()
    return acts


async def ask(site: LongSite, number: int) -> None:
    """Make one call, and print the id that it returns."""
    path, body = (REQUIRED, ADA) if number % 2 else (AUTO, SUM)
    answer = await site.post(path, body)
    if answer.status_code == 202:
        print(answer.json()["id"], flush=True)  # noqa: T201 - what this program is for


async def main(folder: Path, database: str) -> None:
    async with open_site(database, folder, acts=noted(folder), lease_seconds=LEASE_SECONDS) as site:
        await asyncio.gather(*(ask(site, number) for number in range(CALLS)))
        # The failpoint ends the process before, however slow the machine is.
        await asyncio.sleep(PATIENCE_SECONDS)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
