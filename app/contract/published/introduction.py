"""The introduction of the published API reference, in Markdown."""

from typing import Any, Final

from app.contract.published.chapters import GROUPS
from app.contract.published.field_texts import description_of, description_of_schema
from app.kit.openapi.publication import Publication

SUMMARY: Final = "Sign-up, sign-in, second factors, OAuth 2.0 and OpenID Connect, organizations and account management."
DESCRIPTION: Final = """\
Gatehouse is a self-hosted, multi-tenant sign-in service. Most applications need only its OpenID Connect endpoints and the hosted
pages. Use the rest of this API to build your own sign-in pages, to manage accounts from your server, and to automate configuration.

New to Gatehouse? Make your first request (`/docs` of the API host), start with a quickstart for your framework
(`/docs/guides/quickstarts`), or look up what your application gets (`/docs/guides/tokens`).

## Base URLs

| Host | Serves |
| --- | --- |
| `https://api.example.com` | every operation that doesn’t list another server |
| `https://TENANT.example.com` | OAuth 2.0 and OpenID Connect, and the hosted pages of a tenant |

On the API host, the API key identifies the tenant. A tenant’s custom domain serves the same operations as its own host. Letter case
doesn’t matter in paths, query parameters and body members; responses are spelled exactly as documented.

## Authentication

| Credential | Who has it | How to send it |
| --- | --- | --- |
| API key | every app of a tenant; not secret | query `apikey` or header `X-Gatehouse-ApiKey` |
| API secret | your servers | header `X-Gatehouse-ApiSecret` or query `apisecret` |
| Access token | a signed-in account | header `Authorization: Bearer …` |
| Machine token | a server with the grant `client_credentials` | header `Authorization: Bearer …` |
| Client credentials | an application, at the token endpoint | HTTP Basic, form fields, or a signed assertion |

```sh
curl "https://api.example.com/identity/v2/auth/login?apikey=$API_KEY" \\
  --json '{"email": "ada@example.com", "password": "correct horse battery staple"}'
```

## Requests and responses

Requests are JSON with `Content-Type: application/json`, or a form where an operation lists both. Bodies can have up to 1 MB.
Times are UTC in ISO 8601. With `fields` a response contains only what you name, for example `fields=Uid,Email`.

Operations under `/v2/manage` refuse members that they don't know, at any depth, so that no setting gets lost. You can send back what
you read. Other operations ignore unknown members.

Operations that create configuration items accept an `Idempotency-Key` header: within a day, the same key gets the same response.

## Paging

Lists take `page`, from 1, and `pagesize`, up to 200, by default 50. If you leave out both, lists of join requests, invitation links,
custom objects and initial access tokens begin with the first page, and all others are complete. A complete list of organizations,
their parts or OAuth clients waits for its turn among the tenant’s sign-ins.

The accounts of a role context have a `cursor` instead: to get the next page, send the `NextCursor` of the response. The last page
has none.

## Errors

```json
{
  "ErrorCode": 966,
  "Message": "Invalid user ID and/or password",
  "Description": "The password doesn’t match, or there’s no such account. Check both, then try again.",
  "IsProviderError": false,
  "ProviderErrorResponse": null
}
```

Branch on `ErrorCode`, because the texts can change. Each operation lists its errors, and `/docs/errors` explains all of them.
OAuth endpoints return `error` and `error_description` as in RFC 6749. 400 means the request is malformed, 401 that a secret or
token is wrong, 403 that it was refused, 404 that something doesn’t exist, 409 that it exists already. Some refusals are the
next step of a sign-in: `Data` then contains what that step needs, for example a token.

## Rate limits

If you send too many requests, you get status 429, and `Retry-After` says how many seconds to wait. Sign-in, sign-up, password reset
and messages have limits for each address and account, which the operator sets. An overloaded server returns 503.
"""

INFO: Final[dict[str, Any]] = {
    "summary": SUMMARY,
    "description": DESCRIPTION,
    "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
}


def publication(version: str) -> Publication:
    """Return the texts of the document; `version` is the program's, beside that of the interface."""
    return Publication(
        info={**INFO, "x-gatehouse-version": version},
        groups=GROUPS,
        describe=description_of,
        describe_schema=description_of_schema,
    )
