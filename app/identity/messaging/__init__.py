"""Letters: what is said to people by mail and SMS, in their language and in the tenant's look."""
