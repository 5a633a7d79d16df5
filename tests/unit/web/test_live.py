import asyncio
from contextlib import aclosing

from sempre import Sempre
from sempre.errors import StoreUnavailable
from sempre.web.live import Poller, Probes


def test_many_open_pages_cost_one_query_at_a_time() -> None:
    asked: list[int] = []
    pages = 200

    def probe() -> frozenset[str]:
        asked.append(1)
        return frozenset({"runs"}) if len(asked) == 5 else frozenset()

    async def first_message(poller: Poller) -> str:
        async with aclosing(poller.messages()) as messages:
            async for text in messages:
                if "changed" in text:
                    return text
        return ""

    async def visit() -> list[str]:
        poller = Poller(probe, every=0.01)
        found = await asyncio.gather(*(first_message(poller) for _ in range(pages)))
        assert poller.listeners == 0
        return found

    told = asyncio.run(visit())

    assert told == ["event: changed\ndata: runs\n\n"] * pages
    assert len(asked) <= 6


def test_a_store_that_is_down_does_not_end_the_poller() -> None:
    asked: list[int] = []

    def probe() -> frozenset[str]:
        asked.append(1)
        if len(asked) < 3:
            raise StoreUnavailable("no answer")
        return frozenset({"log", "runs"})

    async def visit() -> str:
        async with aclosing(Poller(probe, every=0.01).messages()) as messages:
            async for text in messages:
                if "changed" in text:
                    return text
        return ""

    assert asyncio.run(visit()) == "event: changed\ndata: runs log\n\n"


def test_a_probe_tells_what_has_changed_since_it_was_last_made() -> None:
    app = Sempre("memory://")

    @app.every("1h")
    def job() -> None: ...

    try:
        app.sync()
        probes = Probes(lambda: app.engine)
        assert [probes.next() for _ in range(8)] == [frozenset()] * 8

        app.schedule("job").pause()

        assert {topic for _ in range(4) for topic in probes.next()} >= {"schedules", "log"}
        assert [probes.next() for _ in range(4)] == [frozenset()] * 4

        app.schedule("job").trigger()

        assert "runs" in {topic for _ in range(4) for topic in probes.next()}
    finally:
        app.close()
