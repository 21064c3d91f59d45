"""Locations of addresses: from a database, a list or an installed package; an unreadable source stops the start."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from app.identity.authentication.sign_in.locations.registry import locations
from app.identity.platform.locations import UNKNOWN_PLACE, Place
from app.settings import SettingsError
from tests.support.fakes.mmdb import database

LINZ = {
    "city": {"names": {"de": "Linz an der Donau", "en": "Linz"}},
    "country": {"iso_code": "AT", "names": {"en": "Austria"}},
}
LISTED = "203.0.113.0/24,Austria,Linz\n2001:db8::/32,Spain,\nnonsense\n"
PLUGIN = """
class Fixed:
    def reads(self, file):
        return file.read_bytes().startswith(b"ACME")
    def open(self, file):
        return self
    def place_of(self, address):
        raise RuntimeError("the disk is gone")
"""


def made(folder: Path, content: str | bytes, name: str = "places") -> str:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(file)


@pytest.mark.parametrize(
    ("record", "place"),
    [
        (LINZ, Place("Linz", "Austria")),
        ({"country": {"iso_code": "AT"}}, Place("", "AT")),
        ({"city": "Linz", "country": "Austria"}, Place("Linz", "Austria")),
        ({"city": {"names": {"de": "Linz"}}, "autonomous_system_number": 64_500}, UNKNOWN_PLACE),
        (["no", "place"], UNKNOWN_PLACE),
    ],
)  # fmt: skip
def test_database_gives_places_under_any_file_name(tmp_path: Path, record: Any, place: Place) -> None:
    stored = locations(made(tmp_path, database({"203.0.113.0/24": record, "2001:db8::/32": record}), "places.csv"))
    assert (
        stored.place_of("203.0.113.7")
        == stored.place_of("2001:db8::7")
        == stored.place_of("::ffff:203.0.113.7")
        == place
    )
    assert [stored.place_of(item) for item in ("203.0.114.7", "2001:db9::1", "none", "", "203.0.113.7, 1.1.1.1")] == [
        UNKNOWN_PLACE
    ] * 5


def test_ipv4_database_knows_no_ipv6_address(tmp_path: Path) -> None:
    stored = locations(made(tmp_path, database({"203.0.113.0/24": LINZ}, ip_version=4)))
    assert (stored.place_of("203.0.113.7").city, stored.place_of("2001:db8::7")) == ("Linz", UNKNOWN_PLACE)


def test_network_list_gives_places(tmp_path: Path) -> None:
    stored = locations(made(tmp_path, LISTED, "places.mmdb"))
    assert (stored.place_of("203.0.113.7"), stored.place_of("2001:db8::7")) == (
        Place("Linz", "Austria"),
        Place("", "Spain"),
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (database({"203.0.113.0/24": LINZ})[300:], "it isn't a complete MaxMind DB file"),
        (b"\xab\xcd\xefMaxMind.com", "it isn't a complete MaxMind DB file"),
        (b"\x80\x81\x82", "it's neither a MaxMind DB nor a text file"),
        ("Austria;Linz\n", "none of its lines looks like 203.0.113.0/24,Austria,Linz"),
    ],
    ids=["cut off", "its mark alone", "no text", "another list"],
)
def test_unreadable_location_file_stops_the_start(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        locations(made(tmp_path, content))


def test_missing_location_file_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Couldn't read GATEHOUSE_LOCATIONS_FILE: No such file"):
        locations(str(tmp_path / "places"))


def test_failing_location_plugin_does_not_stop_sign_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "acme_places.py").write_text(PLUGIN)
    about = tmp_path / "acme_places-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-places\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[gatehouse.locations]\nacme = acme_places:Fixed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    stored = locations(made(tmp_path, b"ACME\x00"))
    assert [stored.place_of("203.0.113.7") for _ in range(3)] == [UNKNOWN_PLACE] * 3
    assert [record.getMessage() for record in caplog.records] == ["the source of locations failed; this is told once"]
    sys.modules.pop("acme_places", None)
    assert locations(made(tmp_path, LISTED)).place_of("203.0.113.7").city == "Linz"
