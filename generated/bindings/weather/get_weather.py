# Generated from schemas/tools/weather/get_weather.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f9a2190f59efe1ce11f42b5fd0da7dbd; generator 1

"""The binding of weather.get_weather.

Calls are answered by `gateway.connectors.weather.tools:get_weather`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.weather.tools import get_weather
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.weather.get_weather import GetWeatherInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await get_weather(take(GetWeatherInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("weather",))
