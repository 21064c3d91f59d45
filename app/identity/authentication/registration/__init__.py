"""Registration: how accounts begin, made by people themselves or by the tenant's servers."""
