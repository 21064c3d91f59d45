"""Caches that many tenants or callers fill stay as small as they say."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from app.hub.rendering import assets
from app.identity.directory.tenants.keys import signing_keys
from app.identity.directory.tenants.keys.signing_keys import StoredSigningKeys
from app.identity.messaging import rendering
from app.identity.platform.encryption import Encryption
from app.kit.clock import SystemClock
from app.kit.package_files import STATIC


@pytest.mark.parametrize("cached", [rendering._shades, rendering._light_shades, rendering._dark_styles])
def test_mails_of_many_colours_keep_a_bounded_cache(cached: Any) -> None:
    for number in range(300):
        cached(rendering._Colours(f"#{number:06x}"))
    information = cached.cache_info()
    assert information.currsize == information.maxsize == 256


def test_scripts_named_in_any_order_keep_a_bounded_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "MAX_CACHED", 3)
    joined = assets.Assets(STATIC)
    scripts = sorted(path.stem for path in (STATIC / "js").glob("*.js"))[:3]
    for names in permutations(scripts):
        found = joined.named(".".join(names) + ".000000000000.js")
        assert found is not None
        assert not found[1], "the name is not of this content"
    assert len(joined._cache.values()) == 3


def test_keys_of_many_tenants_keep_a_bounded_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_keys, "MAX_TENANTS", 3)
    keys = StoredSigningKeys(Encryption((b"a secret of the tests, long enough",)), SystemClock())
    for number in range(10):
        keys.refresh_if_changed(f"tenant {number}", 1)
    assert len(keys._versions.values()) == 3
