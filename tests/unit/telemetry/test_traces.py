"""Spans of enqueues and runs: how they belong together, and what they say."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from threading import Event as Flag
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from sempre import Event, Happened, Retry, Sempre, Skip, current
from sempre.clock import SystemClock
from sempre.errors import Refused
from sempre.telemetry import spans as spans_module
from sempre.telemetry import traces as traces_module
from sempre.telemetry.traces import Traces
from sempre.testing.polling import eventually
from tests.unit.telemetry.tracing import Recorded, recording, work_off

SECRET = "IT60X0542811101000000123456"  # noqa: S105 - an account that no span may show


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    with recording() as found:
        yield found


@pytest.fixture
def app() -> Iterator[Sempre]:
    made = Sempre("memory://")
    yield made
    made.close()


def context_of(span: ReadableSpan) -> SpanContext:
    found = span.get_span_context()
    assert found is not None
    return found


def parent_of(span: ReadableSpan) -> int:
    return span.parent.span_id if span.parent else 0


def linked(span: ReadableSpan, kind: str) -> list[int]:
    """Return the ids of spans to which a span has links of a kind."""
    links = (each for each in span.links if (each.attributes or {}).get("sempre.link") == kind)
    return [each.context.span_id for each in links]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def of_caller() -> Any:  # noqa: ANN401 - a context manager of the API
    return trace.get_tracer("web").start_as_current_span("POST /orders")


def test_an_enqueue_is_a_producer_in_the_trace_of_its_caller(
    app: Sempre, recorded: Recorded
) -> None:
    @app.job(queue="bills")
    def bill(_account: str) -> None: ...

    with of_caller():
        receipt = bill.enqueue(SECRET)

    span, caller = recorded.one("enqueue bill"), recorded.one("POST /orders")
    assert span.kind is SpanKind.PRODUCER
    assert parent_of(span) == context_of(caller).span_id
    assert attributes(span) == {
        "messaging.system": "sempre",
        "messaging.operation.name": "enqueue",
        "messaging.operation.type": "send",
        "messaging.destination.name": "bills",
        "messaging.message.id": receipt.id,
        "sempre.kind": "enqueued",
        "sempre.job": "bill",
        "sempre.execution_id": receipt.id,
        "sempre.created": 1,
    }
    assert [event.name for event in span.events] == ["ring"]


def test_a_run_in_a_thread_is_a_consumer_in_the_same_trace(app: Sempre, recorded: Recorded) -> None:
    told = list[str]()

    @app.job
    def bill(_account: str) -> None:
        told.append(current().traceparent)
        with trace.get_tracer("shop").start_as_current_span("charge"):
            pass

    with of_caller():
        receipt = bill.enqueue(SECRET)
    work_off(app)

    enqueue, run, charge = map(recorded.one, ("enqueue bill", "run bill", "charge"))
    assert run.kind is SpanKind.CONSUMER
    assert parent_of(run) == context_of(enqueue).span_id
    assert linked(run, "enqueue") == [context_of(enqueue).span_id]
    assert parent_of(charge) == context_of(run).span_id
    assert told == [f"00-{context_of(run).trace_id:032x}-{context_of(run).span_id:016x}-03"]
    assert {context_of(each).trace_id for each in (enqueue, run, charge)} == {
        context_of(recorded.one("POST /orders")).trace_id
    }
    found = attributes(run)
    assert found.pop("sempre.lateness_ms") >= 0
    assert found.pop("sempre.slot").endswith("Z")
    assert len(found.pop("messaging.client.id")) == 36
    assert found == {
        "messaging.system": "sempre",
        "messaging.operation.name": "run",
        "messaging.operation.type": "process",
        "messaging.destination.name": "default",
        "messaging.message.id": receipt.id,
        "sempre.job": "bill",
        "sempre.execution_id": receipt.id,
        "sempre.attempt": 1,
        "sempre.kind": "enqueued",
        "sempre.outcome": "succeeded",
    }
    assert run.status.status_code is StatusCode.UNSET


async def _charge() -> None:
    with trace.get_tracer("shop").start_as_current_span("charge"):
        pass


def test_spans_of_async_jobs_that_run_at_once_stay_apart(app: Sempre, recorded: Recorded) -> None:
    @app.job
    async def bill(number: int) -> None:
        with trace.get_tracer("shop").start_as_current_span(f"outer {number}"):
            await _charge()

    for number in range(5):
        bill.enqueue(number)
    work_off(app)

    runs = {context_of(each).span_id: each for each in recorded.named("run bill")}
    outers = {context_of(each).span_id: each for each in recorded.spans if "outer" in each.name}
    assert len(runs) == len(outers) == len(recorded.named("charge")) == 5
    assert {parent_of(each) for each in outers.values()} == runs.keys()
    assert {parent_of(each) for each in recorded.named("charge")} == outers.keys()
    assert len({context_of(each).trace_id for each in runs.values()}) == 5


def test_an_enqueue_of_async_code_is_in_its_trace(app: Sempre, recorded: Recorded) -> None:
    """Such an enqueue writes in another thread."""

    @app.job
    async def bill() -> None: ...

    async def handle() -> None:
        with of_caller():
            await bill.aenqueue()

    asyncio.run(handle())

    assert (
        parent_of(recorded.one("enqueue bill")) == context_of(recorded.one("POST /orders")).span_id
    )


def test_a_failure_has_the_status_and_the_exception(app: Sempre, recorded: Recorded) -> None:
    @app.job
    def bill(account: str) -> None:
        message = f"password=hunter2 is wrong for {len(account)}"
        raise ValueError(message)

    bill.enqueue(SECRET)
    work_off(app)

    run = recorded.one("run bill")
    assert run.status.status_code is StatusCode.ERROR
    assert attributes(run)["sempre.outcome"] == "failed"
    assert attributes(run)["error.type"] == "builtins.ValueError"
    [exception] = run.events
    told = dict(exception.attributes or {})
    assert exception.name == "exception"
    assert told["exception.type"] == "builtins.ValueError"
    assert "is wrong for 27" in str(told["exception.message"])
    assert "Traceback" in str(told["exception.stacktrace"])
    assert "hunter2" not in run.to_json()


def test_no_span_has_an_argument_or_a_result(app: Sempre, recorded: Recorded) -> None:
    @app.job
    def bill(account: str) -> str:
        return account

    bill.enqueue(SECRET)
    app.enqueue_many([bill.bind(SECRET), bill.bind(SECRET)])
    with pytest.raises(Refused, match="closed"):
        with_error(app, bill.bind(SECRET))
    work_off(app)

    assert len(recorded.named("run bill")) == 3
    assert SECRET not in "".join(span.to_json() for span in recorded.spans)


def with_error(app: Sempre, call: Any) -> None:  # noqa: ANN401 - a call of any job
    """Let an enqueue fail with an error that quotes an argument."""

    @app.around_enqueue
    def refuse(calls: Any) -> Iterator[None]:  # noqa: ANN401
        if calls[0] is call:
            raise Refused(f"closed for {SECRET}")
        yield

    app.enqueue_many([call])


def test_an_enqueue_that_raises_has_the_status_and_the_type_of_the_error(
    app: Sempre, recorded: Recorded
) -> None:
    @app.job
    def bill(_account: str) -> None: ...

    with pytest.raises(Refused):
        with_error(app, bill.bind(SECRET))

    span = recorded.one("enqueue bill")
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["error.type"] == "sempre.errors.Refused"


def test_a_skip_is_no_error(app: Sempre, recorded: Recorded) -> None:
    @app.job
    def bill() -> None:
        raise Skip("a holiday")

    bill.enqueue()
    work_off(app)

    run = recorded.one("run bill")
    assert run.status.status_code is StatusCode.UNSET
    assert attributes(run)["sempre.outcome"] == "skipped"


def test_a_retry_is_in_the_trace_and_linked_to_the_attempt_before(
    app: Sempre, recorded: Recorded
) -> None:
    @app.job(retry=Retry(2, base="1s"))
    def bill() -> None:
        if current().attempt == 1:
            raise ValueError

    bill.enqueue()
    with app.running():
        eventually(lambda: len(recorded.named("run bill")) == 2)

    first, second = recorded.named("run bill")
    enqueue = context_of(recorded.one("enqueue bill")).span_id
    assert linked(first, "previous attempt") == []
    assert linked(second, "previous attempt") == [context_of(first).span_id]
    assert linked(second, "enqueue") == [enqueue]
    assert parent_of(first) == parent_of(second) == enqueue
    assert [attributes(each)["sempre.attempt"] for each in (first, second)] == [1, 2]


def test_a_run_that_an_operator_retries_is_linked_to_the_attempt_before(
    app: Sempre, recorded: Recorded
) -> None:
    @app.job
    def bill() -> None:
        if current().attempt == 1:
            raise ValueError

    receipt = bill.enqueue()
    work_off(app)
    app.execution(receipt.id).retry()
    work_off(app)

    first, second = recorded.named("run bill")
    assert linked(second, "previous attempt") == [context_of(first).span_id]
    assert context_of(second).trace_id == context_of(first).trace_id


def test_a_run_whose_time_is_over_has_the_status_though_its_thread_goes_on(
    app: Sempre, recorded: Recorded
) -> None:
    goes_on = Flag()

    @app.job(timeout="1s")
    def bill() -> None:
        goes_on.wait(60)

    bill.enqueue()
    with app.running():
        run = eventually(lambda: recorded.named("run bill"))[0]
        goes_on.set()

    assert run.status.status_code is StatusCode.ERROR
    assert attributes(run)["sempre.outcome"] == "timed out"
    assert attributes(run)["error.type"] == "builtins.TimeoutError"


def test_a_slot_begins_a_trace_of_its_own(app: Sempre, recorded: Recorded) -> None:
    @app.every("1s")
    def refresh() -> None: ...

    with of_caller(), app.running():
        eventually(lambda: len(recorded.named("run refresh")) >= 2)

    first, second = recorded.named("run refresh")[:2]
    assert first.parent is None
    assert second.parent is None
    assert not first.links
    assert context_of(first).trace_id != context_of(second).trace_id
    assert attributes(first)["sempre.schedule"] == "refresh"
    assert attributes(first)["sempre.kind"] == "scheduled"
    assert not recorded.named("enqueue refresh")


def test_work_of_a_pair_is_in_the_trace_of_the_run_that_found_it(
    app: Sempre, recorded: Recorded
) -> None:
    @app.job(unique=["number"])
    def create(number: int) -> None: ...

    @create.pair(every="1s")
    def pending() -> list[int]:
        return [7]

    with app.running():
        eventually(lambda: recorded.named("run create"))

    run = recorded.named("run create")[0]
    enqueue = next(
        each
        for each in recorded.named("enqueue create")
        if context_of(each).span_id == parent_of(run)
    )
    scans = {context_of(each).span_id: each for each in recorded.named("run pair:create")}
    scan = scans[parent_of(enqueue)]
    assert attributes(run)["sempre.kind"] == "derived"
    assert context_of(scan).trace_id == context_of(run).trace_id


def test_a_run_long_after_its_enqueue_begins_a_trace_and_has_the_link(
    app: Sempre, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    @app.job
    def bill() -> None: ...

    monkeypatch.setattr(spans_module, "PARENT_WITHIN", timedelta(microseconds=-1))
    bill.enqueue()
    work_off(app)

    enqueue, run = recorded.one("enqueue bill"), recorded.one("run bill")
    assert run.parent is None
    assert context_of(run).trace_id != context_of(enqueue).trace_id
    assert linked(run, "enqueue") == [context_of(enqueue).span_id]


def test_a_batch_has_one_span_and_its_runs_share_the_trace(app: Sempre, recorded: Recorded) -> None:
    @app.job
    def bill(_number: int) -> None: ...

    @app.job
    def mail() -> None: ...

    app.enqueue_many([bill.bind(each) for each in range(3)])
    app.enqueue_many([bill.bind(3), mail.bind()])
    work_off(app)

    batch, mixed = recorded.one("enqueue bill"), recorded.one("enqueue")
    assert attributes(batch)["messaging.batch.message_count"] == 3
    assert attributes(batch)["sempre.created"] == 3
    runs = [parent_of(each) for each in recorded.named("run bill")]
    assert runs.count(context_of(batch).span_id) == 3
    assert parent_of(recorded.one("run mail")) == context_of(mixed).span_id


def test_a_claim_is_a_span_with_links_to_what_it_started(app: Sempre, recorded: Recorded) -> None:
    @app.job
    def bill(_number: int) -> None: ...

    ids = {bill.enqueue(each).id for each in range(3)}
    work_off(app)

    claims = recorded.named("claim")
    links = [link for claim in claims for link in claim.links]
    assert {(link.attributes or {})["messaging.message.id"] for link in links} == ids
    assert {link.context.span_id for link in links} == {
        context_of(each).span_id for each in recorded.named("enqueue bill")
    }
    assert all(claim.kind is SpanKind.CLIENT for claim in claims)


def test_a_duplicate_creates_nothing(app: Sempre, recorded: Recorded) -> None:
    @app.job(unique=True)
    def bill() -> None: ...

    bill.enqueue()
    bill.enqueue()

    assert [attributes(each)["sempre.created"] for each in recorded.named("enqueue bill")] == [1, 0]


def test_an_unsampled_trace_stays_unsampled(app: Sempre) -> None:
    @app.job
    def bill() -> None: ...

    with recording(ParentBased(ALWAYS_OFF)) as recorded:
        receipt = bill.enqueue()
        work_off(app)

        row = app.execution(receipt.id).row
        assert recorded.spans == ()
    assert row.snapshot.trace.endswith(("-00", "-02"))


def test_a_run_that_a_stop_cuts_off_has_a_span(recorded: Recorded) -> None:
    app, began, goes_on = Sempre("memory://", drain="0s"), Flag(), Flag()

    @app.job
    def bill() -> None:
        began.set()
        goes_on.wait(60)

    bill.enqueue()
    with app.running():
        began.wait(60)
    goes_on.set()
    app.close()

    run = recorded.one("run bill")
    assert run.status.status_code is StatusCode.ERROR
    assert attributes(run)["sempre.outcome"] == "interrupted"


def test_events_about_the_end_of_a_run_have_its_traceparent(
    app: Sempre, recorded: Recorded
) -> None:
    told = list[Event]()

    @app.job
    def bill() -> None:
        raise ValueError

    app.on(Happened.FAILED)(told.append)
    bill.enqueue()
    work_off(app)

    run = context_of(recorded.one("run bill"))
    assert told[0].facts["traceparent"] == f"00-{run.trace_id:032x}-{run.span_id:016x}-03"


# The switch


def test_without_a_provider_nothing_is_recorded_or_stored(app: Sempre) -> None:
    told = list[str]()

    @app.job
    def bill() -> None:
        told.append(current().traceparent)

    receipt = bill.enqueue()
    work_off(app)

    assert told == [""]
    assert app.execution(receipt.id).row.snapshot.trace == ""


def test_traces_false_records_nothing_with_a_provider(recorded: Recorded) -> None:
    app = Sempre("memory://", traces=False)

    @app.job
    def bill() -> None: ...

    bill.enqueue()
    work_off(app)
    app.close()

    assert recorded.spans == ()


@pytest.mark.parametrize(("text", "expected"), [("1", True), ("0", False)])
def test_the_environment_decides(
    text: str, *, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMPRE_TRACES", text)

    assert Sempre("memory://").settings.traces is expected


def test_traces_without_the_package_are_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traces_module, "find_spec", lambda _: None)

    with pytest.raises(Refused, match=r"pip install 'sempre\[otel\]'"):
        Sempre("memory://", traces=True)
    Sempre("memory://")


def test_a_provider_is_set_up_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[int]()
    app = Sempre("memory://", traces=lambda: calls.append(1))

    @app.job
    def bill() -> None: ...

    bill.enqueue()
    bill.enqueue()
    work_off(app)
    assert calls == [1]

    monkeypatch.setattr(os, "getpid", lambda: -1)
    app.tracer.begin_claim()
    app.close()
    assert calls == [1, 1]


def test_a_set_up_that_raises_harms_no_work(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces_module.unharmed, "_logged", set())

    def set_up() -> None:
        raise ValueError("no collector")

    app = Sempre("memory://", traces=set_up)

    @app.job
    def bill() -> int:
        return 7

    receipt = bill.enqueue()
    work_off(app)
    app.close()

    assert receipt.created
    assert "without some spans" in caplog.text
    assert "no collector" in caplog.text


@pytest.mark.parametrize("moment", ["on_start", "on_end"])
def test_a_processor_that_raises_harms_no_work(
    app: Sempre, moment: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("a full disk")

    @app.job
    def bill() -> int:
        return 7

    monkeypatch.setattr(traces_module.unharmed, "_logged", set())
    with recording() as recorded:
        monkeypatch.setattr(SimpleSpanProcessor, moment, fail)
        receipts = [bill.enqueue() for _ in range(3)]
        work_off(app)

    assert [receipt.wait() for receipt in receipts] == [7, 7, 7]
    assert recorded.spans == ()
    assert caplog.text.count("without some spans") == 1


def test_a_program_without_traces_never_imports_opentelemetry() -> None:
    code = (
        "import sys; from sempre import Sempre\n"
        "app = Sempre('memory://')\n"
        "job = app.job(name='hello')(lambda: None)\n"
        "job.enqueue()\n"
        "with app.running(burst=True) as running: running.wait_until_exhausted()\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert told.stdout.split("\n")[-2] == "[]"


def test_a_traceparent_that_cannot_be_read_is_left_out(recorded: Recorded) -> None:
    tracer = Traces(wanted=True, clock=SystemClock())

    span = tracer.join("00-nonsense")
    assert span is not None
    with span.activate():
        assert not trace.get_current_span().get_span_context().is_valid
    assert recorded.spans == ()
