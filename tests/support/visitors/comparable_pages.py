"""Responses of the hub without the values of each visit, so that two of them compare equal."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass

from werkzeug.test import TestResponse

FRESH = re.compile(r"nonce-[\w-]{16}|nonce=\"[\w-]{16}\"|gatehouse-browser=[\w-]{24}|value=\"[\w-]{43}\"")


@dataclass
class ComparableAnswer:
    """A browser's response, without the values of each visit."""

    response: TestResponse

    @property
    def text(self) -> str:
        body = self.response.get_data()
        return (gzip.decompress(body) if self.response.headers.get("Content-Encoding") == "gzip" else body).decode()

    @property
    def comparable(self) -> tuple[int, list[tuple[str, str]], str]:
        headers = [
            (name, FRESH.sub("fresh", value)) for name, value in self.response.headers if name != "Content-Length"
        ]
        return self.response.status_code, sorted(headers), FRESH.sub("fresh", self.text)
