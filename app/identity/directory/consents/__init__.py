"""What people agree to on the tenant's consent forms."""
