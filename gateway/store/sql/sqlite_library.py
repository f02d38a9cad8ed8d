"""The SQLite that the gateway uses: the newest of the package's and Python's own.

Python's own is the system's, and may be years old; before 3.51.3 SQLite can damage a database that
two programs write. The package `pysqlite3` brings a current one, for the platforms that it has
wheels for. Both have the interface of Python's `sqlite3`, with separate classes: code that opens
a database of the gateway, or catches what SQLite raises, takes both from here.
"""

import sqlite3
from typing import TYPE_CHECKING, Final

import aiosqlite
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi

if not TYPE_CHECKING:
    try:
        from pysqlite3 import dbapi2 as _shipped
    except ImportError:
        _shipped = sqlite3
    if _shipped.sqlite_version_info > sqlite3.sqlite_version_info:
        sqlite3 = _shipped

__all__ = ["SQLITE_DRIVER", "sqlite3"]

_NAMES: Final = (
    *("Error", "DatabaseError", "IntegrityError", "NotSupportedError", "OperationalError"),
    *("ProgrammingError", "sqlite_version", "sqlite_version_info"),
)


class _Driver(AsyncAdapt_aiosqlite_dbapi):
    """What SQLAlchemy knows of aiosqlite, which itself names the classes of Python's `sqlite3`."""

    def _init_dbapi_attributes(self) -> None:
        super()._init_dbapi_attributes()
        for name in _NAMES:
            setattr(self, name, getattr(self.sqlite, name))


SQLITE_DRIVER: Final = _Driver(aiosqlite, sqlite3)
"""For `create_async_engine(module=…)`: statements run, and errors come, from that library."""
