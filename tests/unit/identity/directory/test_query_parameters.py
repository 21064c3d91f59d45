"""Parameters that are added to a return address."""

import pytest

from app.identity.directory.tenants.urls.allowed_urls import with_query


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.example/x", "https://a.example/x?vtoken=t"),
        ("https://a.example/x?y=1", "https://a.example/x?y=1&vtoken=t"),
        ("https://a.example/x#part", "https://a.example/x?vtoken=t#part"),
        ("https://a.example/x?y=1#part", "https://a.example/x?y=1&vtoken=t#part"),
        ("https://a.example/#/verify?y=1", "https://a.example/?vtoken=t#/verify?y=1"),
        ("https://a.example/x?", "https://a.example/x?vtoken=t"),
    ],
)
def test_parameters_are_added_before_the_fragment(address: str, expected: str) -> None:
    assert with_query(address, vtoken="t") == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.example/x?vtoken=theirs", "https://a.example/x?vtoken=t"),
        ("https://a.example/x?VToken=theirs&y=1", "https://a.example/x?y=1&vtoken=t"),
        ("https://a.example/x?y=1&v%74oken=theirs&vtoken=2", "https://a.example/x?y=1&vtoken=t"),
        ("https://a.example/x?y=1;vtoken=theirs", "https://a.example/x?y=1&vtoken=t"),
        ("https://a.example/x?vtoken[]=theirs&+vtoken=2&vtoken", "https://a.example/x?vtoken=t"),
        ("https://a.example/x?y=vtoken&vtokens=1", "https://a.example/x?y=vtoken&vtokens=1&vtoken=t"),
        ("https://a.example/#/x?y=1&vtoken=theirs", "https://a.example/?vtoken=t#/x?y=1"),
        ("https://a.example/#vtoken=theirs", "https://a.example/?vtoken=t#"),
        ("https://a.example/?y=1#vtoken", "https://a.example/?y=1&vtoken=t#vtoken"),
    ],
)
def test_added_parameters_replace_those_of_the_same_name(address: str, expected: str) -> None:
    assert with_query(address, vtoken="t") == expected
