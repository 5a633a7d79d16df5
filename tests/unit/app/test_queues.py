"""Workers serve every queue that the code declares, and warn of due work that no worker takes."""

from sempre import Event, Every, Happened, Sempre
from sempre.engine.unserved import Unserved
from sempre.ports.messages import Session
from tests.unit.app.conftest import Hand


def declare(app: Sempre) -> None:
    @app.job(queue="mail")
    def send(to: str = "ann") -> None: ...

    @app.job
    def count() -> None: ...

    app.add("nightly", Every("1d"), count, queue="reports")


def unserved(app: Sempre) -> tuple[Unserved, list[Event]]:
    told = list[Event]()
    app.on(Happened.UNSERVED)(told.append)
    return Unserved(app.engine), told


def work(app: Sempre, *, queues: set[str], jobs: set[str]) -> None:
    """Register a live worker of these queues and jobs."""
    session = Session(f"{queues}{jobs}", queues=tuple(queues), jobs=tuple(jobs))
    app.engine.store.register(session, lease=app.settings.lease)


def test_an_application_knows_the_queues_that_it_declares(app: Sempre) -> None:
    assert app.queues == {"default"}

    declare(app)

    assert app.queues == {"default", "mail", "reports"}


def test_a_worker_serves_every_declared_queue_unless_queues_are_named(app: Sempre) -> None:
    declare(app)

    assert app.running().spec.queues == {"default", "mail", "reports"}
    assert app.running(queues=["mail"]).spec.queues == {"mail"}


def test_due_work_in_a_queue_that_no_live_worker_serves_is_reported(
    app: Sempre, clock: Hand
) -> None:
    declare(app)
    job = app.job(name="remind", queue="mail")(lambda: None)
    job.enqueue()
    job.enqueue()
    job.options(delay="1h").enqueue()
    work(app, queues={"default"}, jobs={"send", "count", "remind"})
    look, told = unserved(app)

    look.step()

    [event] = told
    assert event.facts["queue"] == "mail"
    assert event.facts["executions"] == 2
    assert event.facts["remedy"] == "sempre worker APP -q mail"
    clock.move(minutes=11)
    work(app, queues={"mail"}, jobs={"remind"})
    look.step()
    assert len(told) == 1


def test_due_work_of_a_job_that_no_live_worker_knows_is_reported(app: Sempre, clock: Hand) -> None:
    app.job(name="renamed")(lambda: None).enqueue()
    work(app, queues={"default"}, jobs={"bill"})
    look, told = unserved(app)

    look.step()
    look.step()

    [event] = told
    assert event.facts["job"] == "renamed"
    assert "no live worker knows the job" in event.facts["reason"]
    clock.move(minutes=11)
    work(app, queues={"default"}, jobs={"bill"})
    look.step()
    assert len(told) == 2


def test_due_work_that_is_served_here_and_known_there_is_reported_with_both(app: Sempre) -> None:
    app.job(name="send", queue="mail")(lambda: None).enqueue()
    work(app, queues={"mail"}, jobs={"bill"})
    work(app, queues={"default"}, jobs={"send"})
    look, told = unserved(app)

    look.step()

    [event] = told
    assert event.facts["reason"] == ("no live worker that serves the queue mail knows the job send")


def test_work_behind_a_long_backlog_is_found_by_later_looks(app: Sempre) -> None:
    app.job(name="bill")(lambda: None)
    known = app.job(name="count")(lambda: None)
    unknown = app.job(name="renamed")(lambda: None)
    app.enqueue_many(known.bind() for _ in range(250))
    unknown.enqueue()
    work(app, queues={"default"}, jobs={"count"})
    look, told = unserved(app)

    for _ in range(3):
        look.step()

    assert [event.facts["job"] for event in told] == ["renamed"]
