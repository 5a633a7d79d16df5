"""Kept bugs of declarations: deploys that switch off what newer code declares, or never back on."""

from collections.abc import Iterable

from sempre.app.schedules import deploy as deploying
from sempre.app.schedules.stored_schedule import StoredSchedule
from sempre.domain import declaration
from tests.simulation.bugs import Patch, bug

__all__: list[str] = []


@bug
def a_deploy_disables_what_a_newer_release_declares(patch: Patch) -> None:
    def prune(
        self: deploying.Deploy, survey: deploying._Survey, _created: Iterable[str]
    ) -> list[str]:
        names = [each.name for each in survey.gone if each.definition.enabled]
        for name in names:
            StoredSchedule(self._engine, name, actor="code").disable()
        return names

    patch.setattr(deploying.Deploy, "_prune", prune)


@bug
def what_a_deploy_disabled_is_never_enabled_again(patch: Patch) -> None:
    patch.setattr(declaration, "is_pruned", lambda _declared: False)


@bug
def an_older_release_enables_what_a_newer_one_dropped(patch: Patch) -> None:
    patch.setattr(declaration, "newest_release", lambda _declared: None)
