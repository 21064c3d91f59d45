"""Gatehouse: the hub and the identity service, which `applications` puts together. Imports neither, so that commands start fast."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
