"""The page of a schedule whose only run was retried: there is no lateness to draw."""

from starlette.testclient import TestClient

from sempre import Sempre


def work_off(app: Sempre) -> None:
    with app.running(burst=True, sync=False) as running:
        running.wait_until_exhausted()


def test_a_schedule_without_a_lateness_to_draw_has_its_page() -> None:
    app = Sempre("memory://")

    @app.every("1d")
    def doomed() -> None:
        raise ValueError("no")

    app.sync()
    identity = app.schedule("doomed").trigger().id
    work_off(app)
    app.execution(identity).retry(why="once more")
    work_off(app)

    with TestClient(app.dashboard(auth=lambda _: "read"), base_url="http://localhost") as client:
        answer = client.get("/schedules/doomed")

    assert answer.status_code == 200
    app.close()
