"""The application: what users declare, operate and start; the composition root."""

from sempre.app.application import Sempre
from sempre.app.jobs import AsyncJob, Call, Job
from sempre.app.receipts import Receipt
from sempre.app.schedules import ScheduleHandle, Schedules

__all__ = ["AsyncJob", "Call", "Job", "Receipt", "ScheduleHandle", "Schedules", "Sempre"]
