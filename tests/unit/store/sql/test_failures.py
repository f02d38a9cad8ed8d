"""Whose fault an error of the database is: it decides whether work is given up."""

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from gateway.store.sql.engines import is_transient
from gateway.store.sql.sqlite import sqlite3
from tests.unit.tables import each_of


class Coded(Exception):
    def __init__(self, code: str) -> None:
        name = "sqlite_errorname" if code.startswith("SQLITE") else "sqlstate"
        setattr(self, name, code)


def failed(cause: Exception) -> DBAPIError:
    return DBAPIError("INSERT", {}, cause)


@each_of(
    "code",
    [
        *("21000", "22001", "22021", "23505", "23514", "44000", "54000", "P0001"),
        *("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_TRIGGER", "SQLITE_TOOBIG"),
    ],
)
def test_a_value_is_refused_each_time(code) -> None:
    assert not is_transient(failed(Coded(code)))


@each_of(
    "code",
    [
        *("42501", "42P01", "42703", "XX000", "XX001", "25P02", "57014", "40001", "08006"),
        *("SQLITE_ERROR", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_BUSY_SNAPSHOT", "SQLITE_FULL"),
    ],
)
def test_what_the_database_cannot_do_now_is_not_the_values_fault(code) -> None:
    assert is_transient(failed(Coded(code)))


def test_without_a_code_a_driver_refuses_the_value_and_a_network_does_not() -> None:
    assert not is_transient(failed(sqlite3.InterfaceError("unsupported type")))
    assert is_transient(ConnectionRefusedError())
    assert is_transient(NoConnection())
