"""`app.why` on virtual time: lives with outages, edits, switches and losses, slot by slot."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sempre import Concurrency, Every, GiveUp, Retry, Sempre
from sempre.app.jobs import Job
from sempre.domain.explanation import Code, Explanation, Verdict
from sempre.domain.explanation.wording import Speech, sentence_of, verdict_sentence
from sempre.errors import NotFound
from sempre.testing import TimeTravel

DAY = "2026-05-04"
PLACES = {Code.ON_GRID, Code.ANCHORED, Code.CREATED, Code.CREATED_BY_PREDECESSOR}


@dataclass
class Life:
    """An application on virtual time, and its answers."""

    app: Sempre
    t: TimeTravel
    limited: Job[[], None]
    mail: Job[[str], None]

    def why(self, name: str, clock: str) -> Explanation:
        """Explain a slot of the one day."""
        return self.app.why(name, at=f"{DAY}T{clock}")

    def codes(self, name: str, clock: str) -> list[Code]:
        """Return why a slot is as it is, apart from its grid and its creation."""
        return [code for code in self.why(name, clock).codes() if code not in PLACES]

    def sentences(self, explanation: Explanation) -> str:
        """Return the whole answer as one text."""
        speech = Speech(explanation.zone, self.t.now)
        causes = [sentence_of(cause, speech) for cause in explanation.causes]
        return "\n".join([verdict_sentence(explanation, speech), *causes])


@pytest.fixture
def life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Life]:
    """Schedules of many kinds, from 08:05 on."""
    monkeypatch.setenv("LOGNAME", "ann")
    app = Sempre(f"sqlite:///{tmp_path / 'jobs.db'}", owner="billing", release=7, redact=["iban"])
    failures = iter([True, True, False])

    @app.every("10m")
    def plain() -> None: ...

    @app.every("10m", overlap="wait")
    def waiting() -> None: ...

    @app.every("10m", deadline="5m")
    def urgent() -> None: ...

    @app.every("1h", retry=Retry(2, base="10s"))
    def flaky() -> None:
        if next(failures, False):
            raise ValueError("password=hunter2")

    @app.every("1h", on_unknown="skip")
    def fragile() -> None: ...

    @app.job(limit=Concurrency(1, tag="bank"))
    def limited() -> None: ...

    @app.job
    def mail(address: str) -> None:
        raise GiveUp(f"{address} does not exist")

    app.add("first", Every("10m"), limited)
    app.add("second", Every("10m"), limited)
    with app.testing(f"{DAY} 08:05Z") as t:
        yield Life(app, t, limited, mail)
    app.close()


def test_a_slot_that_ran_on_time_needs_no_excuse(life: Life) -> None:
    life.t.travel("10m")

    found = life.why("plain", "08:10")

    assert found.verdict is Verdict.SUCCEEDED
    assert life.codes("plain", "08:10") == [Code.ATTEMPT_SUCCEEDED]
    assert "plain@Mon 4 May 08:10 UTC succeeded." in life.sentences(found)


def test_a_slot_that_waited_for_its_predecessor_names_the_run(life: Life) -> None:
    life.t.takes("waiting", "17m")
    life.t.travel("40m")

    found = life.why("waiting", "08:20")

    [cause] = [each for each in found.causes if each.code is Code.WAITED_FOR_RUN]
    first = life.why("waiting", "08:10").execution
    assert cause.facts["execution"] == first
    assert f"waited 7 min for the run of Mon 4 May 08:10 UTC ({first})" in life.sentences(found)
    assert "started 7 min late" in life.sentences(found)


def test_an_overlap_names_the_run_and_its_times(life: Life) -> None:
    life.t.takes("plain", "17m")
    life.t.travel("40m")

    found = life.why("plain", "08:20")

    assert found.verdict is Verdict.SKIPPED
    assert life.codes("plain", "08:20") == [Code.OVERLAPPED]
    assert "from Mon 4 May 08:10 UTC to Mon 4 May 08:27 UTC" in life.sentences(found)


def test_a_slot_that_waited_for_a_limit_says_which(life: Life) -> None:
    life.t.takes("limited", "4m")
    life.t.travel("20m")

    late = [name for name in ("first", "second") if life.why(name, "08:20").late]

    [name] = late
    assert Code.HELD_BY_LIMIT in life.codes(name, "08:20")
    assert "for the limit of 1 run at once of tag bank" in life.sentences(life.why(name, "08:20"))


def test_an_outage_explains_the_late_run_and_the_range(life: Life) -> None:
    life.t.travel("6m")
    life.t.outage("67m")

    assert life.codes("plain", "08:20") == [Code.NO_WORKER, Code.ATTEMPT_SUCCEEDED]
    missed = life.why("plain", "08:40")
    assert missed.verdict is Verdict.MISSED
    assert life.codes("plain", "08:40") == [Code.MISSED_IN_RANGE, Code.DOWNTIME]
    assert "one of 5 slots" in life.sentences(missed)
    assert life.codes("urgent", "08:20") == [Code.NO_WORKER, Code.PAST_DEADLINE]


def test_a_lost_lease_names_the_session_and_the_policy(life: Life) -> None:
    life.t.takes("fragile", "30m")
    life.t.travel("60m")
    life.t.outage("5m")

    assert life.codes("fragile", "09:00") == [Code.ATTEMPT_LOST, Code.UNKNOWN_OUTCOME]


def test_a_schedule_that_an_unknown_outcome_paused_says_so_after_it_was_resumed(
    life: Life,
) -> None:
    life.app.schedule("fragile").edit(on_unknown="hold")
    life.t.takes("fragile", "30m")
    life.t.travel("60m")
    life.t.outage("5m")
    life.t.travel("2h")
    life.app.schedule("fragile").resume()
    life.t.travel("1h")

    found = life.why("fragile", "10:00")

    codes = [Code.PAUSED, Code.PASSED_IN_RANGE]
    assert life.codes("fragile", "10:00") == codes
    lost = life.why("fragile", "09:00").execution
    assert f'paused by sempre: "execution {lost}' in life.sentences(found)


def test_retries_by_the_policy_are_told_with_their_waits_and_without_secrets(life: Life) -> None:
    life.t.travel("2h")

    found = life.why("flaky", "09:00")

    expected = [Code.ATTEMPT_FAILED, Code.RETRIED_BY_POLICY] * 2
    assert life.codes("flaky", "09:00") == [*expected, Code.ATTEMPT_SUCCEEDED]
    assert "hunter2" not in life.sentences(found)
    assert "Another attempt followed 10 s later" in life.sentences(found)


def test_a_lost_ticket_is_told_with_its_delay(life: Life) -> None:
    life.t.travel("14m")
    life.t.lose_broker()
    life.t.travel("20m")

    found = life.why("plain", "08:20")

    assert life.codes("plain", "08:20") == [Code.TICKET_LOST, Code.ATTEMPT_SUCCEEDED]
    assert "a sweep found the execution 15 s after it was due" in life.sentences(found)
    entries = [(each.actor, each.target) for each in life.app.actions(verb="heal")]
    assert ("sempre", "queue:default") in entries


def test_a_lost_queue_is_noted_by_the_watchdog_though_no_slot_was_late(life: Life) -> None:
    life.t.travel("6m")
    life.t.lose_broker()
    life.t.travel("20m")

    [entry] = life.app.actions(verb="heal")

    assert isinstance(entry.after, dict)
    assert (entry.actor, entry.after["cause"]) == ("watchdog", "queue lost")
    assert life.codes("plain", "08:20") == [Code.ATTEMPT_SUCCEEDED]


def test_a_life_without_losses_heals_nothing(life: Life) -> None:
    life.t.takes("waiting", "17m")
    life.t.takes("limited", "4m")
    life.app.switch("job:plain").off("incident", until="25m")

    life.t.travel("1 day")

    assert list(life.app.actions(verb="heal")) == []


def test_a_switch_that_held_a_slot_is_named_though_the_start_cleared_the_reason(
    life: Life,
) -> None:
    life.t.travel("1m")
    life.app.switch("job:plain").off("incident 42")
    life.t.travel("24m")
    life.app.switch("job:plain").on(why="fixed")
    life.t.travel("10m")

    held = life.why("plain", "08:10")

    assert life.codes("plain", "08:10") == [Code.HELD_BY_SWITCH, Code.ATTEMPT_SUCCEEDED]
    text = "held the execution for 20 min: switched off at Mon 4 May 08:06 UTC by ann"
    assert text in life.sentences(held)
    assert 'ann: "incident 42"' in life.sentences(life.why("plain", "08:20"))
    assert life.codes("plain", "08:20") == [Code.HELD_IN_RANGE]


def test_a_switch_that_rejects_skips_the_slot(life: Life) -> None:
    life.app.switch("job:plain").off("incident 42", mode="reject")
    life.t.travel("10m")

    found = life.why("plain", "08:10")

    assert life.codes("plain", "08:10") == [Code.REJECTED_BY_SWITCH]
    assert 'by ann: "incident 42"' in life.sentences(found)


def test_a_pause_names_who_why_and_until(life: Life) -> None:
    life.app.schedule("plain").pause(until="30m", note="migration")

    ahead = life.why("plain", "08:20")
    life.t.travel("60m")
    behind = life.why("plain", "08:20")

    assert (ahead.verdict, behind.verdict) == (Verdict.WILL_NOT_RUN, Verdict.SKIPPED)
    for each in (ahead, behind):
        text = 'paused by ann: "migration", until Mon 4 May 08:35 UTC'
        assert text in life.sentences(each)
    assert life.codes("plain", "08:40") == [Code.ATTEMPT_SUCCEEDED]


def test_a_disabled_schedule_names_the_operator(life: Life) -> None:
    life.app.schedule("plain").disable(why="too loud")
    life.t.travel("20m")
    life.app.schedule("plain").enable()

    found = life.why("plain", "08:20")

    assert 'disabled by ann: "too loud"' in life.sentences(found)
    assert life.codes("plain", "08:20") == [Code.DISABLED, Code.PASSED_IN_RANGE]


def test_a_skip_names_the_operator_and_can_be_taken_back(life: Life) -> None:
    life.app.schedule("plain").skip(f"{DAY}T08:20Z", why="migration")
    life.app.schedule("plain").skip(f"{DAY}T08:30Z")
    life.app.schedule("plain").unskip(f"{DAY}T08:30Z", why="not needed")
    life.t.travel("30m")

    assert 'skipped by ann: "migration"' in life.sentences(life.why("plain", "08:20"))
    assert life.codes("plain", "08:30") == [Code.SKIP_TAKEN_BACK, Code.ATTEMPT_SUCCEEDED]


def test_an_edit_explains_slots_of_the_old_grid_and_of_the_new_one(life: Life) -> None:
    life.t.travel("26m")
    life.app.schedule("plain").edit(every="7m", why="faster")
    life.t.travel("30m")

    replaced, never = life.why("plain", "08:40"), life.why("plain", "08:50")

    assert (replaced.verdict, never.verdict) == (Verdict.SUPERSEDED, Verdict.NEVER_EXISTED)
    assert life.codes("plain", "08:40") == [Code.EDITED, Code.SUPERSEDED]
    assert life.codes("plain", "08:50") == [Code.NOT_ON_GRID, Code.EDITED]
    assert 'edited (grid) by ann: "faster"' in life.sentences(never)
    assert life.codes("plain", "08:10") == [Code.ATTEMPT_SUCCEEDED]


def test_instants_that_never_were_slots_name_their_reason(life: Life) -> None:
    life.t.travel("20m")

    assert life.codes("plain", "08:13") == [Code.NOT_ON_GRID]
    nearest = "before is Mon 4 May 08:10 UTC and after is Mon 4 May 08:20 UTC"
    assert nearest in life.sentences(life.why("plain", "08:13"))
    assert life.codes("plain", "07:00") == [Code.BEFORE_CREATION]


def test_a_future_slot_is_expected_and_the_next_one_has_its_row(life: Life) -> None:
    assert life.codes("plain", "08:10") == [Code.NEXT]
    assert life.codes("plain", "09:30") == [Code.EXPECTED]
    assert life.why("plain", "09:30").verdict is Verdict.WILL_RUN


def test_a_slot_after_until_will_not_run(life: Life) -> None:
    life.app.schedule("plain").edit(until=f"{DAY}T09:00Z")

    assert life.codes("plain", "09:10") == [Code.AFTER_UNTIL]


def test_work_that_was_enqueued_tells_how_it_ended(life: Life) -> None:
    receipt = life.mail.enqueue("nobody@example.org")
    life.t.travel("1m")

    found = life.app.why(receipt.id)

    assert found.codes() == [Code.ENQUEUED, Code.ATTEMPT_FAILED, Code.GAVE_UP]
    assert found.slot is None


def test_names_of_the_setting_redact_are_masked_too(life: Life) -> None:
    life.app.schedule("plain").pause(note="iban=DE021001 is wrong")

    found = life.why("plain", "08:20")

    assert "DE021001" not in life.sentences(found)
    assert "iban=[redacted] is wrong" in life.sentences(found)


def test_a_manual_run_and_a_backfill_name_who_asked(life: Life) -> None:
    life.t.travel("6m")
    life.t.outage("67m")
    manual = life.app.schedule("plain").trigger(why="test")
    [backfill] = life.app.schedule("plain").backfill(
        f"{DAY}T08:40Z", f"{DAY}T08:40Z", why="the bank asks"
    )
    life.t.travel("1m")

    assert 'requested by ann: "test"' in life.sentences(life.app.why(manual.id))
    assert 'requested by ann: "the bank asks"' in life.sentences(life.app.why(backfill.id))
    assert Code.OTHER_RUN in life.codes("plain", "08:40")


def test_a_deleted_schedule_still_explains_its_slots(life: Life) -> None:
    life.t.travel("10m")
    life.app.schedule("plain").delete(why="obsolete")

    past, future = life.why("plain", "08:10"), life.why("plain", "10:00")

    assert past.verdict is Verdict.SUCCEEDED
    assert 'deleted by ann: "obsolete"' in life.sentences(future)


def test_a_renamed_schedule_keeps_its_past_under_the_new_name(life: Life) -> None:
    life.app.put_schedule("old", Every("10m"), life.limited)
    life.app.schedule("old").pause(until="25m", note="migration")
    life.t.travel("40m")
    life.app.schedule("old").rename("new", why="clearer")

    assert 'paused by ann: "migration"' in life.sentences(life.why("new", "08:20"))
    assert "renamed to new by ann" in life.sentences(life.why("old", "08:20"))


def test_a_deploy_that_drops_a_schedule_is_named_with_its_release(life: Life) -> None:
    life.t.travel("6m")
    later = Sempre(
        life.app.engine.store, broker=life.app.engine.bell.broker, owner="billing", release=8
    )
    later.sync()
    life.t.travel("20m")

    found = life.why("plain", "08:20")

    assert Code.DISABLED_BY_DEPLOY in found.codes()
    assert "release 8 of owner billing declares it no more" in life.sentences(found)


def test_an_unknown_name_is_refused_with_the_nearest_one(life: Life) -> None:
    with pytest.raises(NotFound, match="plain"):
        life.why("plane", "08:10")
