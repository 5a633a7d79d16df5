"""Metrics of real workers, scraped by a real Prometheus."""
