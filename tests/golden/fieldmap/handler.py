"""The binding of shop.price_of.

Calls are answered by `handlers.shop:run`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from handlers.shop import run as shop_run
from made.models.shop.price_of import PriceOfInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await shop_run(take(PriceOfInput, arguments)))


BINDING: Final = PythonBinding(run=run)
