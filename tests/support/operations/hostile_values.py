"""Values that every operation refuses or stores as they are."""

from __future__ import annotations

# Hostile input gets an ordinary response.

HOSTILE = {
    "a NUL": b'{"Password":"a\\u0000b","password":"a\\u0000b","UserName":"a\\u0000"}',
    "a raw NUL": b'{"Password":"a\x00b"}',
    "a lone surrogate": b'{"Password":"\\ud800","password":"\\ud800","Identifier":"\\udfff"}',
    "half a pair in a name": b'{"\\ud83d":1}',
    "deep lists": b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "two megabytes": b'{"Password":"' + b"x" * 2_000_000 + b'"}',
    "a huge number": b'{"password":1e999,"Password":' + b"9" * 5_000 + b"}",
    "one name twice": b'{"password":1,"password":2,"PASSWORD":3}',
}
