"""Every zone from 1800 to 2100: our clock changes and offsets are those zoneinfo shows."""

from datetime import UTC, datetime
from random import Random

import pytest

from sempre.grids.zones import zone
from tests.long.tally import SHARDS, Tally, zones_of_shard
from tests.property.grids.oracles import DAY, Change, changes, offset_at, second_of

pytestmark = pytest.mark.long

ZONES = Tally("zones")
START, END = (second_of(datetime(year, 1, 1, tzinfo=UTC)) for year in (1800, 2100))
INSTANTS_A_NAME = 1700


@pytest.mark.parametrize("shard", range(SHARDS))
def test_changes_and_offsets_are_those_that_zoneinfo_shows(shard: int) -> None:
    random = Random(shard)  # noqa: S311 - the same instants every time, not secrets
    for name, names in zones_of_shard(shard).items():
        line = zone(name).timeline(reach=END)
        steps = zip(line.starts[1:], line.offsets, line.offsets[1:], strict=False)
        ours = tuple(Change(*step) for step in steps if START < step[0] <= END)

        assert ours == changes(name, START, END, DAY), name
        for known in names:
            instants = [random.randrange(START, END) for _ in range(INSTANTS_A_NAME)]
            instants += [change.at + beside for change in ours for beside in (-1, 0, 1)]
            for second in instants:
                assert zone(known).offset_at(second) == offset_at(known, second), (known, second)
            ZONES.count("instants", len(instants))
        ZONES.add("zone names", names)
        ZONES.add("zones", [name])
        ZONES.add("clock changes", [(name, change.at) for change in ours])
    ZONES.report()
