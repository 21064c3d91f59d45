"""Let `-k` select a case by the names of its operations."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    if (called := getattr(item, "callspec", None)) is not None:
        item.extra_keyword_matches.update(one.name for one in called.params.get("area", ()))
