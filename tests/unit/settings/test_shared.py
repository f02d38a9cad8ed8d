"""Two settings never have the same variable."""

import pytest

from gateway.contract.upstream import CredentialRule, Upstream
from gateway.errors import ConfigurationError
from gateway.settings import read_settings
from tests.unit.tables import each_of


def upstream(name, *credentials):
    rules = tuple(CredentialRule(name=each, description="A key.") for each in credentials)
    return Upstream(name=name, title=name.title(), base_url="https://a.test", credentials=rules)


@each_of(
    ("upstreams", "variable"),
    [
        ([upstream("bootstrap", "key")], "GATEWAY_BOOTSTRAP_KEY"),
        ([upstream("secrets", "key")], "GATEWAY_SECRETS_KEY"),
        ([upstream("database", "url")], "GATEWAY_DATABASE_URL"),
        ([upstream("bootstrap", "key_file")], "GATEWAY_BOOTSTRAP_KEY_FILE"),
        ([upstream("a", "b_key"), upstream("a_b", "key")], "GATEWAY_A_B_KEY"),
        ([upstream("kf", "key", "key_file")], "GATEWAY_KF_KEY_FILE"),
        ([upstream("a"), upstream("backend", "a")], "GATEWAY_BACKEND_A"),
    ],
)
def test_a_variable_of_two_settings_is_refused(upstreams, variable):
    with pytest.raises(ConfigurationError, match=variable):
        read_settings({}, None, {}).for_upstreams(upstreams)


def test_other_upstreams_are_read():
    found = read_settings({}, None, {}).for_upstreams([upstream("a", "key"), upstream("b", "key")])
    assert [*found] == ["a", "b"]
