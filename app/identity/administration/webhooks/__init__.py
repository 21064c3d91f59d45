"""Operations on webhooks that their declaration does not give: the list of events, and REST hooks."""
