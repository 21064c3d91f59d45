"""All that is loaded after the first page (decisions/0304 and 0311): importing this module loads it."""

from __future__ import annotations

from app.identity.entry import (
    areas,  # noqa: F401 - registers the handlers
    straight,
    tables,  # noqa: F401 - deletions need every table
)
from app.identity.entry.lifecycle import IdentityLifecycle
from app.identity.platform.services import Services
from app.kit.lifecycle import Loaded


def loaded(services: Services) -> Loaded:
    """Return the lifecycle of all operations, and their straight functions."""
    return Loaded(IdentityLifecycle(services), straight.answers(services), straight.admissions(services))
