# Generated from schemas/tools/weather/get_weather.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 699e9a9eb3019ad6f1d3162832b26b9a; generator 1

"""The binding of weather.get_weather.

Calls are answered by `gateway.handlers.weather:get_weather`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.weather import get_weather
from generated.models.weather.get_weather import GetWeatherInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await get_weather(GetWeatherInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("weather",))
