"""What identity providers provision by SCIM: their connections and tokens, the people and groups, and the log of requests."""
