"""Gatehouse: the hub and the identity service, which `app.factories` assembles. Imports neither, so that commands start fast."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
