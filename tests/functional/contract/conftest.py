"""What tests/contract says of this catalogue, for all that it draws from."""

from tests.contract.conftest import gateway_may_answer, gateway_webhook_settings

__all__ = ["gateway_may_answer", "gateway_webhook_settings"]
