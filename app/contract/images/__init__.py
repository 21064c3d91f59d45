"""Images that people upload: pictures of accounts and logos of organizations."""
