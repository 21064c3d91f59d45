"""Parameters of paged lists."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from app.kit.operations.wire import From, Wire

DEFAULT_SIZE = 50


class Paged(Wire):
    """One page of a list; without `page` and `pagesize` the list is complete."""

    has_default: ClassVar[bool] = False
    """Whether the first page is answered without `page`."""
    page: Annotated[int | None, From.QUERY, Field(ge=1, le=1_000_000)] = None
    page_size: Annotated[int | None, From.QUERY, Field(ge=1, le=200)] = None

    @property
    def window(self) -> tuple[int | None, int]:
        """The number of entries, None for all, and of those before them."""
        if self.page is None and self.page_size is None and not self.has_default:
            return None, 0
        size = self.page_size or DEFAULT_SIZE
        return size, ((self.page or 1) - 1) * size


class PagedByDefault(Paged):
    """One page of a list, by default the first."""

    has_default: ClassVar[bool] = True
