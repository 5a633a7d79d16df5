"""An application as a user would write it, on a store that must not be touched."""

from sempre import Retry, Sempre, current


class Shop:
    """A few jobs, and what was done by them.

    Attributes:
        done: what the jobs noted, in order.
    """

    def __init__(self) -> None:
        self.app = Sempre("sqlite:////nowhere/at/all.db")
        self.done: list[str] = []
        self.trouble = 0

        @self.app.every("15m")
        def refresh() -> None:
            self.done.append(f"refresh {current().slot:%d %H:%M}")

        @self.app.cron("30 2 * * *", timezone="Europe/Rome", retry=Retry(2, base="10s"))
        async def report(region: str = "all") -> str:
            self.done.append(f"report {current().attempt}")
            if self.trouble:
                self.trouble -= 1
                raise ConnectionError(f"no route to {region}")
            mail.enqueue("ann", subject=region)
            return region

        @self.app.job(isolation="process")
        def mail(to: str, *, subject: str = "hello") -> None:
            self.done.append(f"mail {to} {subject}")

        self.refresh, self.report, self.mail = refresh, report, mail
