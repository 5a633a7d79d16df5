"""Rules: the stored form of definitions and snapshots, which no release may change unawares."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from sempre import Concurrency, Cron, Rate
from sempre.domain.definition import define
from sempre.domain.policies import Retry
from sempre.domain.rules import read_definition, read_snapshot, shared_rules, write_rules
from sempre.domain.schedule import Schedule
from sempre.domain.snapshot import Snapshot
from sempre.domain.values import copy_with
from sempre.errors import PolicyError
from sempre.stores.redis.encoding import instant, stamp

UNTIL = datetime(2026, 3, 29, 1, 2, 3, 456789, tzinfo=UTC)
DEFINITION = define(
    job="bill",
    grid=Cron("0 2 * * *", timezone="Europe/Rome"),
    args={"n": 1},
    queue="slow",
    priority=5,
    until=UNTIL,
    limit=3,
    retry=Retry(2, base="5s", cap="1m"),
    timeout="20m",
    deadline="30s",
    jitter="10s",
    tags=["eu", "us"],
    catch_up=True,
    catch_up_within="1h",
    catch_up_max=4,
    note="späť",
    owner="ops",
)
SNAPSHOT = Schedule(
    id="s", name="x", definition=DEFINITION, created_at=UNTIL, cursor=UNTIL
).snapshot()
DEFINITION_TEXT = (
    '{"job":"bill","grid":{"grid":"cron","text":"0 2 * * *","timezone":"Europe/Rome",'
    '"gap":"shift","fold":"first"},"queue":"slow","priority":5,"enabled":true,'
    '"catch_up":true,"catch_up_within":3600000000,"catch_up_max":4,"tolerance":60000000,'
    '"deadline":30000000,"overlap":"skip","jitter":10000000,"until":1774746123456789,'
    '"limit":3,"retry":[2,5000000,60000000],"timeout":1200000000,"on_unknown":"rerun",'
    r'"tags":["eu","us"],"owner":"ops","note":"sp\u00e4\u0165"}'
)
SNAPSHOT_TEXT = (
    '{"job":"bill","queue":"slow","priority":5,"grid":{"grid":"cron","text":"0 2 * * *",'
    '"timezone":"Europe/Rome","gap":"shift","fold":"first"},"retry":[2,5000000,60000000],'
    '"timeout":1200000000,"deadline":30000000,"jitter":10000000}'
)


def test_a_definition_is_stored_as_it_always_was() -> None:
    assert write_rules(DEFINITION) == DEFINITION_TEXT
    assert read_definition(DEFINITION_TEXT) == copy_with(DEFINITION, args={})


def test_a_store_may_put_instants_in_its_own_way() -> None:
    text = write_rules(DEFINITION, instant=stamp)

    assert text == DEFINITION_TEXT.replace("1774746123456789", '"1001774746123456789"')
    assert read_definition(text, instant=instant) == copy_with(DEFINITION, args={})


def test_a_snapshot_is_stored_as_it_always_was() -> None:
    assert write_rules(SNAPSHOT) == SNAPSHOT_TEXT
    assert read_snapshot(SNAPSHOT_TEXT) == copy_with(SNAPSHOT, name="", args={}, revision=1)


def test_of_a_snapshot_what_is_usual_is_not_said_and_means_the_same_for_ever() -> None:
    text = write_rules(Snapshot(name="x", job="bill"))

    assert text == '{"job":"bill"}'
    # Not by the defaults of today: those may change, and what is stored must not.
    assert vars(read_snapshot(text)) == {
        "name": "",
        "job": "bill",
        "args": {},
        "queue": "default",
        "priority": 1000,
        "grid": None,
        "retry": Retry(0, base="10s", cap="10m"),
        "timeout": None,
        "on_unknown": "rerun",
        "overlap": "skip",
        "deadline": None,
        "jitter": timedelta(0),
        "tags": (),
        "redact": (),
        "limits": (),
        "revision": 1,
        "trace": "",
    }


def test_what_has_no_end_and_no_grid_is_stored_as_null() -> None:
    plain = define(job="bill", grid=Cron("@daily"))
    one_off = copy_with(SNAPSHOT, grid=None, tags=("eu", "us"))

    assert read_definition(write_rules(plain)).until is None
    assert read_snapshot(write_rules(one_off)).grid is None
    assert read_snapshot(write_rules(one_off)).tags == ("eu", "us")


def test_what_is_kept_is_stored_where_it_is_not_the_default() -> None:
    kept = define(job="bill", grid=Cron("@daily"), retention="90d", keep=3)
    plain = define(job="bill", grid=Cron("@daily"))
    written = write_rules(plain)

    assert read_definition(write_rules(kept)) == kept
    assert "retention" not in written
    assert "keep" not in written
    assert read_definition(written) == plain


def test_limits_are_stored_where_there_are_any() -> None:
    limits = (Concurrency(3, key=["tenant"]), Rate("100/90s", tag="mail"))
    limited = define(job="bill", grid=Cron("@daily"), limit=[*limits])
    one_off = copy_with(SNAPSHOT, limits=limits)

    assert read_definition(write_rules(limited)).limits == limits
    assert read_snapshot(write_rules(one_off)).limits == limits
    assert "limits" not in write_rules(define(job="bill", grid=Cron("@daily"), limit=3))
    assert json.loads(write_rules(one_off))["limits"] == [
        ["concurrency", 3, ["tenant"], ""],
        ["rate", 100, 90_000_000, [], "mail"],
    ]


@pytest.mark.parametrize("stored", ["burst", ["burst", 3], ["concurrency", 3], 7, None])
def test_a_limit_of_a_newer_release_is_not_read(stored: object) -> None:
    with pytest.raises(PolicyError, match="limits"):
        read_snapshot(json.dumps({"job": "bill", "limits": [stored]}))


def test_names_to_redact_are_stored_where_there_are_any() -> None:
    masking = define(job="bill", grid=Cron("@daily"), redact=["iban"])
    plain = define(job="bill", grid=Cron("@daily"))
    one_off = copy_with(SNAPSHOT, redact=("iban", "pin"))

    assert read_definition(write_rules(masking)).redact == ("iban",)
    assert "redact" not in write_rules(plain)
    assert read_definition(write_rules(plain)).redact == ()
    assert read_snapshot(write_rules(one_off)).redact == ("iban", "pin")


FULL = Retry(2, base="5s", cap="1m", jitter="1.5s", only=OSError, never=("a.B", ValueError))
FULL_TEXT = (
    '[2,5000000,60000000,{"jitter":1500000,"only":["builtins.OSError"],'
    '"never":["a.B","builtins.ValueError"]}]'
)


def test_more_of_a_retry_policy_is_stored_where_there_is_any() -> None:
    definition = copy_with(DEFINITION, retry=FULL)
    snapshot = copy_with(SNAPSHOT, retry=FULL)
    jitter = write_rules(copy_with(SNAPSHOT, retry=Retry(2, jitter="1s")))

    assert f'"retry":{FULL_TEXT},' in write_rules(definition)
    assert read_definition(write_rules(definition)).retry == FULL
    assert read_snapshot(write_rules(snapshot)).retry == FULL
    assert '"retry":[2,10000000,600000000,{"jitter":1000000}]' in jitter


def test_an_older_release_refuses_to_read_more_of_a_retry_policy() -> None:
    stored = json.loads(FULL_TEXT)

    # As releases without exception types and jitter have checked the stored form.
    assert [type(each) for each in stored] != [int] * 3


@pytest.mark.parametrize(
    "retry",
    [
        [],
        [1, 2],
        [1, 1000000, 1000000, {}, {}],
        [1, 1000000, 1000000, []],
        [1, 1000000, 1000000, {"only": "a.B"}],
        [1, 1000000, 1000000, {"never": [1]}],
        [1, 1000000, 1000000, {"jitter": "1s"}],
        [1, 1000000, 1000000, {"jitter": True}],
        [1, 1000000, 1000000, {"of a newer release": 1}],
        [1, 1000000, "1000000"],
        {"limit": 1},
    ],
)
def test_a_retry_policy_that_this_release_does_not_know_is_not_read(retry: object) -> None:
    with pytest.raises(PolicyError) as caught:
        read_snapshot(json.dumps({"job": "bill", "retry": retry}))

    assert caught.value.field == "retry"


# Traces

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("snapshot", [SNAPSHOT, Snapshot(name="x", job="bill")])
def test_a_trace_is_the_last_field_of_the_rules(snapshot: Snapshot) -> None:
    bare = write_rules(snapshot)

    text = write_rules(copy_with(snapshot, trace=TRACE))

    assert text == f'{bare[:-1]},"trace":"{TRACE}"}}'
    assert read_snapshot(text) == copy_with(read_snapshot(bare), trace=TRACE)
    assert shared_rules(text) == shared_rules(bare) == bare


def test_a_snapshot_without_a_trace_is_stored_as_before() -> None:
    assert write_rules(Snapshot(name="x", job="bill")) == '{"job":"bill"}'
    assert read_snapshot('{"job":"bill"}').trace == ""


@pytest.mark.parametrize(
    "text",
    [
        f'{{"trace":"{TRACE}","job":"bill"}}',
        f'{{"job":"bill", "trace": "{TRACE}"}}',
    ],
)
def test_a_trace_at_another_place_is_read_too(text: str) -> None:
    assert read_snapshot(text) == Snapshot(name="", job="bill", trace=TRACE)


def test_a_trace_of_another_form_is_kept_as_it_is() -> None:
    odd = copy_with(Snapshot(name="", job="bill"), trace='01-"\\odd"}')

    assert read_snapshot(write_rules(odd)) == odd


def test_text_that_looks_like_a_trace_is_no_trace() -> None:
    tagged = Snapshot(name="", job="bill", tags=(f',"trace":"{TRACE}"}}',))

    assert read_snapshot(write_rules(tagged)) == tagged
    assert shared_rules(write_rules(tagged)) == write_rules(tagged)


def test_a_trace_is_no_drift_and_shares_the_parsed_rules() -> None:
    first, second = (copy_with(SNAPSHOT, trace=TRACE[:-1] + end) for end in "01")

    assert first != second
    assert first.drift_from(second) == ()
    assert read_snapshot(write_rules(first)).grid is read_snapshot(write_rules(second)).grid


def test_a_definition_has_no_trace() -> None:
    with pytest.raises(PolicyError, match="trace"):
        read_definition(f'{DEFINITION_TEXT[:-1]},"trace":"{TRACE}"}}')
