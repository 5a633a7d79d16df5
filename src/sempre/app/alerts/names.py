"""The names of the jobs and schedules by which alerts work, and of nothing else."""

__all__ = ["OWN", "delivery_job", "heartbeat_job", "is_own", "scan_job"]

OWN = "sempre."
"""Names of Sempre's own jobs begin with this text; no alert is ever about them."""


def scan_job(owner: str | None) -> str:
    """Return the name of the scan: one for each owner, whose code declares the channels."""
    return f"{OWN}alerts:{owner}" if owner else f"{OWN}alerts"


def delivery_job(channel: str) -> str:
    """Return the job that delivers to a channel: only workers that declare the channel know it."""
    return f"{OWN}alert:{channel}"


def heartbeat_job(channel: str) -> str:
    """Return the job and the schedule of a heartbeat."""
    return f"{OWN}heartbeat:{channel}"


def is_own(job: str) -> bool:
    """Return whether a job is one of Sempre's own."""
    return job.startswith(OWN)
