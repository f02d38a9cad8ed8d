"""The SQLite library that the gateway uses: that of `pysqlite3` or of Python, the newer one.

Python often uses the system's library, which can be years old. Before 3.51.3, SQLite can damage a
database that two programs write. The package `pysqlite3` contains a current library and has wheels
for some platforms. Its interface is that of Python's `sqlite3`, but its classes are separate. So
code that opens a database or catches SQLite's errors must import `sqlite3` from this module.
"""

import sqlite3
from typing import TYPE_CHECKING, Final

import aiosqlite
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi

if not TYPE_CHECKING:
    try:
        from pysqlite3 import dbapi2 as _packaged
    except ImportError:
        _packaged = sqlite3
    if _packaged.sqlite_version_info > sqlite3.sqlite_version_info:
        sqlite3 = _packaged

__all__ = ["SQLITE_DRIVER", "sqlite3"]

_NAMES: Final = (
    *("Error", "DatabaseError", "IntegrityError", "NotSupportedError", "OperationalError"),
    *("ProgrammingError", "sqlite_version", "sqlite_version_info"),
)


class _Driver(AsyncAdapt_aiosqlite_dbapi):
    """SQLAlchemy's driver for aiosqlite, with the classes of the library that is used.

    aiosqlite itself exports the classes of Python's `sqlite3`.
    """

    def _init_dbapi_attributes(self) -> None:
        super()._init_dbapi_attributes()
        for name in _NAMES:
            setattr(self, name, getattr(self.sqlite, name))


SQLITE_DRIVER: Final = _Driver(aiosqlite, sqlite3)
"""The driver for `create_async_engine(module=…)`."""
