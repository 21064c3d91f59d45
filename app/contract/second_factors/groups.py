"""Parameters that rows of second factors share, under the letters of the interface's tables (mfa.md)."""

from typing import Annotated

from pydantic import Field

from app.kit.wire import From, Lower

Template = Annotated[str | None, From.QUERY, Field(max_length=100)]


class RBQ(Lower):
    """The templates by which risk checks notify."""

    rba_browser_email_template: Template = None
    rba_city_email_template: Template = None
    rba_country_email_template: Template = None
    rba_ip_email_template: Template = None
    rba_browser_sms_template: Template = None
    rba_city_sms_template: Template = None
    rba_country_sms_template: Template = None
    rba_ip_sms_template: Template = None
