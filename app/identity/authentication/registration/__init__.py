"""Registration: the creation of accounts by people themselves or by the tenant's servers."""
