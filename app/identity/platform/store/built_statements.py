"""Statements that are built for each execution; statements of one form share their SQL (decision 0268).

They run like compiled statements. The shared `DriverStatement` has SQL, names and types; each statement has its own values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Dialect
from sqlalchemy.sql import Executable
from sqlalchemy.sql.compiler import SQLCompiler

from app.identity.platform.store.compiled_statements import DriverStatement, Parameters
from app.kit.caching.lru_cache import LruCache

MAX_FORMS = 2_000


@dataclass(frozen=True)
class _Shared:
    """What statements of one key share."""

    driver_statement: DriverStatement | None
    """None where only SQLAlchemy can execute them."""
    places: Mapping[str, int]
    """The place of each parameter among the values that SQLAlchemy finds in a statement."""


_ONLY_SQLALCHEMY = _Shared(None, {})


class BuiltStatements:
    """The forms of a database's statements, by the key that SQLAlchemy's own cache has for them."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._shared = LruCache[Any, _Shared](MAX_FORMS)

    def find(self, statement: Executable) -> tuple[DriverStatement, Parameters] | None:
        """Return a statement as the driver takes it, and its values; None if only SQLAlchemy can execute it.

        Such are one with an expanding IN, one with a default that Python computes for each row, and text.
        """
        anything: Any = statement  # the type `Executable` has no key
        if not (anything.is_select or anything.is_dml):
            return None
        key = anything._generate_cache_key()
        if key is None or key.params:
            return None
        shared = self._shared.get(key.key)
        if shared is None:
            shared = self._compile(anything, key)
            self._shared.put(key.key, shared)
        if shared.driver_statement is None:
            return None
        return shared.driver_statement, {name: key.bindparams[at].value for name, at in shared.places.items()}

    def _compile(self, statement: Any, key: Any) -> _Shared:
        compiled: SQLCompiler = statement._compiler(self._dialect, cache_key=key)
        if compiled.post_compile_params or compiled.literal_execute_params:
            return _ONLY_SQLALCHEMY
        if compiled.insert_prefetch or compiled.update_prefetch or any(bind.callable for bind in key.bindparams):
            return _ONLY_SQLALCHEMY
        if (
            compiled.effective_returning and not statement._returning
        ):  # SQLAlchemy adds RETURNING for keys that are not read
            return _ONLY_SQLALCHEMY
        copies, _ = compiled._cache_key_bind_match or ({}, {})  # an insert compiles copies of its values
        names = compiled.bind_names
        places = {names[copy]: at for at, bind in enumerate(key.bindparams) for copy in copies[bind] if copy in names}
        try:
            return _Shared(DriverStatement(compiled, self._dialect, places.keys()), places)
        except ValueError:  # two columns of one name
            return _ONLY_SQLALCHEMY
