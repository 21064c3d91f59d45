"""Signature Version 4, compared with the signature by botocore 1.44 of the same request at the same time."""

from datetime import UTC, datetime

from app.kit.outbound.aws_signature import AwsKey, signed


def test_signature_equals_that_of_botocore() -> None:
    form = "application/x-www-form-urlencoded; charset=utf-8"
    key, now = AwsKey("AKID", "secret"), datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    url = "https://sns.eu-central-1.amazonaws.com/"
    headers = signed(key, "eu-central-1", "sns", url, b"Action=Publish&Message=a+b", form, now)
    assert headers["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKID/20260102/eu-central-1/sns/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=fe0b5773e2a89d27548aa4d4df54df7cebc956ac84b5cd823147526b29642259"
    )
