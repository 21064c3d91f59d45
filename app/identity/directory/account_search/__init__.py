"""Lists and searches the accounts of a tenant, at a bounded cost for any number of accounts."""
