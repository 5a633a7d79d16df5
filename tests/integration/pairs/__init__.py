"""Pairs with real databases, drivers and worker processes."""
