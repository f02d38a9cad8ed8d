"""The credentials that are needed to get an access token."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from gateway.contract.upstream import TokenGrant, TokenRule

GRANT_CREDENTIALS: Final[Mapping[TokenGrant, tuple[str, ...]]] = {
    "refresh_token": ("client_id", "client_secret", "refresh_token"),
    "client_credentials": ("client_id", "client_secret"),
    "jwt_bearer": ("service_account_key",),
}
"""The credentials that each grant needs."""


def usable_rule(rules: Sequence[TokenRule], given: Collection[str]) -> TokenRule | None:
    """The first rule whose credentials are all in `given`, or None."""
    return next((rule for rule in rules if not missing_for(rule, given)), None)


def missing_for(rule: TokenRule, given: Collection[str]) -> tuple[str, ...]:
    """The credentials that `rule` needs and that are not in `given`."""
    return tuple(name for name in GRANT_CREDENTIALS[rule.grant] if name not in given)
