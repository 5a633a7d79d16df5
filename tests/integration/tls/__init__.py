"""Servers behind TLS, with certificates of a private authority."""
