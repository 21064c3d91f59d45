"""What outgoing connections need: safe address resolution, DNS records, OAuth clients, signatures of AWS."""
