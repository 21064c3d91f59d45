"""Let `-k` select a case by the names of its operations; read sources without a search for garbage."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture
def sources_last() -> Iterator[None]:
    """Search none of the syntax trees for garbage, which takes as long as to parse them."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    if (called := getattr(item, "callspec", None)) is not None:
        item.extra_keyword_matches.update(param.name for param in called.params.get("area", ()))
