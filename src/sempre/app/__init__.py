"""The application: what users declare, operate and start; the composition root."""

from sempre.app.application import Sempre
from sempre.app.enqueue.receipt import Receipt
from sempre.app.jobs import AsyncJob, Call, Job
from sempre.app.schedules.catalog import Schedules
from sempre.app.schedules.stored_schedule import StoredSchedule

__all__ = ["AsyncJob", "Call", "Job", "Receipt", "Schedules", "Sempre", "StoredSchedule"]
