# Generated from schemas/tools/golf/book_tee_time.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 99bcf8f729be84cf3494ff93a4618039; generator 1

"""The binding of golf.book_tee_time.

Calls are answered by `gateway.connectors.golf.tools:book_tee_time`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.golf.tools import book_tee_time
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.golf.book_tee_time import BookTeeTimeInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await book_tee_time(take(BookTeeTimeInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("golf",))
