"""How a cron text may be written: fields, aliases, zones, spaces and letters."""

import pytest

from sempre import Cron
from sempre.errors import CronError, InvalidInput, ZoneError
from tests.unit.grids.clocks import at, fires

ROME = "Europe/Rome"


@pytest.mark.parametrize(
    ("alias", "text"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@noon", "0 12 * * *"),
        ("@hourly", "0 * * * *"),
        ("@Daily", "0 0 * * *"),
        ("@HOURLY", "0 * * * *"),
    ],
)
def test_an_alias_is_short_for_a_text(alias: str, text: str) -> None:
    assert Cron(alias) == Cron(text)


@pytest.mark.parametrize(
    "text",
    [
        "0 9 * * * Europe/Rome",
        "CRON_TZ=Europe/Rome 0 9 * * *",
        "TZ=Europe/Rome 0 9 * * *",
        "0 0 9 * * * Europe/Rome",
        "TZ=Europe/Rome 0 0 9 * * *",
    ],
)
def test_a_zone_in_the_text_wins_over_the_argument(text: str) -> None:
    grid = Cron(text, timezone="Asia/Tokyo")

    assert grid.timezone == ROME
    assert grid == Cron("0 9 * * *", timezone=ROME)
    assert fires(grid, ROME, "2026-07-01 00:00Z", 1) == ["2026-07-01 09:00+02:00"]


@pytest.mark.parametrize("text", ["@daily Europe/Rome", "CRON_TZ=Europe/Rome @daily"])
def test_an_alias_may_have_a_zone(text: str) -> None:
    assert Cron(text) == Cron("0 0 * * *", timezone=ROME)


@pytest.mark.parametrize("zone", ["UTC", "GMT", "EST5EDT", "Etc/GMT+5", "Asia/Ho_Chi_Minh", "GB"])
def test_any_name_of_the_database_is_a_zone_in_the_text(zone: str) -> None:
    assert Cron(f"0 9 * * * {zone}").timezone == zone
    assert Cron(f"TZ={zone} 0 9 * * *").timezone == zone


def test_the_zone_is_not_part_of_the_stored_text() -> None:
    assert Cron("0  9 * * *  Europe/Rome").text == "0 9 * * *"


@pytest.mark.parametrize(
    "text",
    [
        "0 9 * * * Europe/Rom",
        "@daily Europe/Rom",
        "CRON_TZ=Europe/Rom 0 9 * * *",
        "TZ=Europe/Rom @daily",
        "0 9 * * * europe/rome",
    ],
)
def test_an_unknown_zone_in_the_text_is_refused_with_the_nearest_one(text: str) -> None:
    with pytest.raises(ZoneError, match="Europe/Rome"):
        Cron(text)


def test_two_zones_in_the_text_are_one_too_many() -> None:
    with pytest.raises(InvalidInput):
        Cron("TZ=Europe/Rome 0 9 * * * Europe/Paris")


def test_an_unknown_zone_is_refused_though_the_text_has_another() -> None:
    with pytest.raises(ZoneError):
        Cron("0 9 * * * Europe/Rome", timezone="Europe/Rom")


@pytest.mark.parametrize(
    "text", ["  0 9 * * 1-5", "0 9 * * 1-5  ", "0\t9\t*\t*\t1-5", "0   9 *  * 1-5", "0 9 * * 1-5\n"]
)
def test_spaces_do_not_matter(text: str) -> None:
    assert Cron(text) == Cron("0 9 * * 1-5")
    assert Cron(text).text == "0 9 * * 1-5"


@pytest.mark.parametrize("text", ["0 0 * JAN mon", "0 0 * jan MON", "0 0 * Jan Mon", "00 0 * 1 01"])
def test_letters_and_leading_zeros_do_not_matter(text: str) -> None:
    assert Cron(text) == Cron("0 0 * 1 1")


@pytest.mark.parametrize("text", ["0 0 l * *", "0 0 lw * *", "0 0 15w * *", "0 0 * * 5l"])
def test_special_letters_may_be_small(text: str) -> None:
    assert Cron(text) == Cron(text.upper())


def test_seconds_come_first() -> None:
    grid = Cron("15 30 9 * * *")

    assert grid.after(at("2026-01-01 00:00Z")) == at("2026-01-01 09:30:15Z")
    assert Cron("0 30 9 * * *") == Cron("30 9 * * *")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("*/15 9 * * *", [0, 15, 30, 45]),
        ("5/20 9 * * *", [5, 25, 45]),
        ("59/5 9 * * *", [59]),
        ("10-30/10 9 * * *", [10, 20, 30]),
        ("10-35/10 9 * * *", [10, 20, 30]),
        ("3,1,2,2 9 * * *", [1, 2, 3]),
        ("58-1 9 * * *", [0, 1, 58, 59]),
        ("*/59 9 * * *", [0, 59]),
        ("0-0 9 * * *", [0]),
        ("5-5/7 9 * * *", [5]),
    ],
)
def test_lists_ranges_and_steps(text: str, minutes: list[int]) -> None:
    slots = Cron(text).between(at("2026-01-01 00:00Z"), at("2026-01-02 00:00Z"))

    assert [slot.minute for slot in slots] == minutes


def test_a_text_of_256_characters_is_read_and_one_more_is_refused() -> None:
    longest = ",".join(["10"] * 82) + ",1 " + "* * * *"
    assert len(longest) <= 256
    longest = longest.rjust(256)

    assert Cron(longest) == Cron("1,10 * * * *")
    with pytest.raises(CronError, match="256"):
        Cron(longest + " ")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0 24 * * *", "Midnight is hour 0"),
        ("*/90 * * * *", 'Every("90 minutes")'),
        ("@every 5m", "Every("),
        ("every day at noon", "Every("),
        ("0 0 * * L5", "5L"),
        ("0 0 32 * *", "L is the last one"),
        ("0 0 0 1 1 * 2026", "Years are not supported"),
        ("H * * * *", "jitter"),
        ("0 0 1,,2 * *", "comma"),
        ("0 0 * * mom", "MON"),
        ("0 0 * jna *", "JAN"),
        ("@dayly", "@daily"),
    ],
)
def test_a_refusal_tells_the_likely_intention(text: str, hint: str) -> None:
    with pytest.raises(CronError) as refused:
        Cron(text)

    assert hint in refused.value.hint
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 0 * * 0", "0 0 * * 7"),
        ("0 0 * * sun", "0 0 * * 7"),
        ("0 0 * 1-12 *", "0 0 * * *"),
        ("1,2,3 * * * *", "1-3 * * * *"),
        ("*/1 * * * *", "* * * * *"),
        ("0 0 L * *", "0 0 -1 * *"),
        ("0 0 L-1 * *", "0 0 -2 * *"),
        ("0 0 * * 5L", "0 0 * * fri#-1"),
        ("0 0 * * 5#L", "0 0 * * fri#-1"),
        ("0 0 * * 5#last", "0 0 * * fri#-1"),
        ("0 0 29-L * *", "0 0 29-31 * *"),
        ("0 0 1-L/8 * *", "0 0 1,9,17,25 * *"),
        ("0 0 -3-L * *", "0 0 L-2,L-1,L * *"),
        ("@daily", "0 0 0 * * ?"),
    ],
)
def test_grids_of_one_meaning_are_equal(one: str, other: str) -> None:
    assert Cron(one) == Cron(other)
    assert hash(Cron(one)) == hash(Cron(other))
    assert len({Cron(one), Cron(other)}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 0 * * 0", "0 0 * * 1"),
        ("0 0 13 * 5", "0 0 */13 * 5"),
        # The first runs twice when the clocks go back, the second once.
        ("0 * * * *", "0 0-23 * * *"),
        ("0 0 1-31 * 5", "0 0 * * 5"),
    ],
)
def test_grids_of_different_meaning_are_not_equal(one: str, other: str) -> None:
    assert Cron(one, timezone=ROME) != Cron(other, timezone=ROME)


def test_zone_and_policies_are_part_of_the_meaning() -> None:
    plain = Cron("0 2 * * *", timezone=ROME)

    others = [
        Cron("0 2 * * *"),
        Cron("0 2 * * *", timezone=ROME, gap="skip"),
        Cron("0 2 * * *", timezone=ROME, fold="last"),
        "0 2 * * *",
        None,
    ]

    assert plain not in others
