"""Management programs write consent forms as drafts, publish and disable them.

The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.configuration_model import Tag, WebUrl
from app.contract.consents.forms import MAX_OPTIONS, ConsentForm, Paragraph, Sentence
from app.contract.resources import collection
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (  # fmt: skip
    COMPUTED,
    CREATE,
    CREATED_AT,
    DELETE,
    FIXED,
    LIST,
    MODIFIED_AT,
    READ_ONLY,
    UPDATE,
    InOwnStore,
    Key,
    ResourceAction,
    StoredAs,
    VerbOptions,
)

DRAFT, PUBLISHED, DISABLED = "Draft", "Published", "Disabled"


class ManagedConsentOption(Wire):
    """An option of a consent form. Options with the same ID in several forms are one consent. A mandatory one can't be
    withdrawn. `Link` is the address of the full text."""

    consent_option_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    title: Annotated[dict[Tag, Sentence], Field(min_length=1)]
    description: Annotated[dict[Tag, Paragraph], Field(max_length=30)] = Field(default_factory=dict)
    link: WebUrl | None = None
    is_mandatory: bool = False


class ManagedConsentForm(Wire):
    """A consent form. `Event` is Register, FirstLogin, Login, or a name of your own; texts are by language. Publish a draft to
    use it, and disable a form to end it. An event has one published form; accounts answer it again when its version changes."""

    id: Annotated[str, Key("id", is_minted=True)]
    event: Annotated[str, FIXED, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
    is_custom: Annotated[bool, READ_ONLY] = False
    version: Annotated[int, READ_ONLY] = 1
    status: Annotated[Literal["Draft", "Published", "Disabled"], READ_ONLY] = "Draft"
    title: Annotated[dict[Tag, Sentence], Field(max_length=30)] = Field(default_factory=dict)
    text: Annotated[dict[Tag, Paragraph], Field(max_length=30)] = Field(default_factory=dict)
    is_mandatory: Annotated[bool, StoredAs("mandatory")] = True
    options: Annotated[list[ManagedConsentOption], COMPUTED, Field(max_length=MAX_OPTIONS)] = Field(
        default_factory=list
    )
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


class StoredConsentForm(ConsentForm):
    """A form as the store returns it."""

    status: Literal["Draft", "Published", "Disabled"] = "Draft"


class ConsentFormStatus(Wire):
    status: Literal["Published", "Disabled"]


FORMS = collection(
    "consent_forms", "/v2/manage/consent/forms", ManagedConsentForm,
    verbs=(
        LIST, CREATE,
        VerbOptions(
            UPDATE, summary="Update a draft of a consent form",
            description="Replaces a draft. A published form can’t be changed; create a draft of its next version.",
        ),
        VerbOptions(
            DELETE, summary="Delete a draft of a consent form",
            description="Deletes a draft. A published form can’t be deleted, only disabled.",
        ),
    ),
    noun="consent form",
    about="People answer a published form at its event. Only drafts can change. When the version changes, people answer the form again.",
    scope="consent", unknown=errors.NoConsentForm, backing=InOwnStore(), content=StoredConsentForm,
    actions=(
        ResourceAction(
            "set_status", "PUT /v2/manage/consent/forms/{id}/status", "Publish or disable a consent form",
            description="Publishes a draft, so that people answer it at its event, or disables a published form.",
            request=ConsentFormStatus, errors=(errors.BadField,),
        ),
    ),
)  # fmt: skip
