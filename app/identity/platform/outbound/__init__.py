"""HTTP to other services: bounded in time and size, to public and permitted addresses only."""
