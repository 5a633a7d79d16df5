"""Loops go on whatever their steps raise."""

from threading import Event

from sempre.engine.loops import Loop


def test_a_step_that_raises_is_told_of_and_called_again() -> None:
    end = Event()
    told: list[tuple[str, type[Exception]]] = []
    calls: list[int] = []

    def step() -> float:
        calls.append(len(calls))
        if len(calls) == 1:
            raise KeyError("of whatever kind")
        end.set()
        return 0.0

    loop = Loop(
        "maintenance", step, end=end, failed=lambda name, error: told.append((name, type(error)))
    )
    loop.call()
    loop.start()
    loop.join(60)

    assert calls == [0, 1]
    assert told == [("maintenance", KeyError)]
