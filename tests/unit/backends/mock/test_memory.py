"""A mock continues where it ended, no matter which process starts it."""

from datetime import timedelta

import pytest

from gateway.backends.mock.application import MockOptions, open_mock
from gateway.backends.mock.state import StoredState
from gateway.errors import ConfigurationError
from tests.clocks import NOW

OPTIONS = MockOptions()


def test_a_time_that_is_set_is_never_before_what_is_remembered(library, clock, tmp_path) -> None:
    file = tmp_path / "library.db"
    start = NOW - timedelta(days=400)
    first = open_mock(library, clock, file=file, start=start, options=OPTIONS)
    assert first.clock.now() == start
    state = StoredState(file)
    with state.transaction(start + timedelta(days=2)):
        state.new_id("book")
    again = open_mock(library, clock, file=file, start=start, options=OPTIONS)
    assert again.clock.now() == start + timedelta(days=2)
    later = open_mock(library, clock, file=file, start=NOW, options=OPTIONS)
    assert later.clock.now() == NOW


def test_without_a_time_of_its_own_it_has_the_gateways(library, clock, tmp_path) -> None:
    mock = open_mock(library, clock, file=None, start=None, options=OPTIONS)
    clock.advance(60)
    assert mock.clock.now() == clock.now()


def test_at_speed_0_its_time_stands_still(library, clock) -> None:
    still = MockOptions(speed=0)
    mock = open_mock(library, clock, file=None, start=NOW, options=still)
    clock.advance(60)
    assert mock.clock.now() == NOW


def test_a_file_that_cannot_be_used_is_refused_at_the_start(library, clock, tmp_path) -> None:
    file = tmp_path / "library.db"
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(ConfigurationError, match="move the file away"):
        open_mock(library, clock, file=file, start=None, options=OPTIONS)
