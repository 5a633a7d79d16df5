"""Deploy: at its start, code brings the store to its declarations, and reports the changes.

A start creates missing schedules, applies changed fields, and under an `owner=` disables schedules
that the code of that owner no longer declares. A release below the newest changes no existing
schedule. A start that declares a schedule of another owner is refused before it changes anything,
unless it adopts the schedule.

`Deploy` decides. A `DeployTarget` carries the decisions out, or keeps them as a plan.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice

from sempre.app.schedules.creation import Declared, code_words
from sempre.app.schedules.deploy_target import DeployTarget, Verb, deploy_act, why_declared
from sempre.config import Settings
from sempre.domain.declaration import plan_declare, plan_prune, plan_refuse
from sempre.domain.declaration_marks import (
    is_dropped_since,
    is_gone,
    is_pruned,
    newest_release,
)
from sempre.domain.ownership import Standing, standing_of
from sempre.domain.planning import Plan
from sempre.domain.schedule import Schedule
from sempre.engine.core import Engine
from sempre.engine.events import Happened
from sempre.errors import Contended
from sempre.errors.owners import OwnedByAnother, OwnedName
from sempre.ports.messages import Order, Session, View

__all__ = ["Deploy", "Synced", "is_orphan", "known_jobs"]

# Without an owner a start searches for orphans only, in this many schedules: it must stay quick.
MOST = 10_000


@dataclass(frozen=True)
class Synced:
    """What a sync did, by name of schedule."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    """Disabled by this start: the newest code of the same owner declares them no more."""
    enabled: tuple[str, ...] = ()
    """Enabled again by this start: an earlier deploy had disabled them."""
    orphaned: tuple[str, ...] = ()
    """Left alone, though no code of the same owner declares them, or no worker knows their job."""
    withheld: tuple[str, ...] = ()
    """Declared by this code and not as it declares them: a newer release declares them no more, or
    took them over from the owner that this code has."""
    adopted: tuple[str, ...] = ()
    """Taken over by this start from another owner, or from none."""


@dataclass
class _Survey:
    """What a scan of the schedules of the store has found.

    Attributes:
        newest: the newest release that has declared or dropped a schedule of this owner.
        gone: schedules of this owner that this code no longer declares.
        withheld: schedules that this code declares and a newer release has pruned.
        strangers: schedules with a job that this code does not know.
    """

    newest: int
    gone: list[Schedule] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    strangers: list[Schedule] = field(default_factory=list)


class Deploy:
    """One start of code that declares schedules.

    Args:
        engine: of the store.
        schedules: what the code declares, by name.
        jobs: the names of the jobs that the code knows.
        target: carries the decisions out; by default in the store of the engine. A target that
            only keeps them makes the deploy a plan.
        settings: with the owner and release of the schedules; by default those of the engine.
    """

    def __init__(
        self,
        engine: Engine,
        schedules: Mapping[str, Declared],
        jobs: Collection[str],
        *,
        target: DeployTarget | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Prepare a deploy; nothing is read yet."""
        self._engine = engine
        self._schedules = schedules
        self._jobs = jobs
        self._target = target or DeployTarget(engine)
        declaring = settings or engine.settings
        self._owner, self._release = declaring.owner, declaring.release

    def carry_out(self) -> Synced:
        """Bring the store to what the code declares; report what was done.

        Raises:
            OwnedByAnother: a schedule belongs to another owner, and is not adopted. Nothing was
                changed, unless that owner has declared the schedule at this very moment.
        """
        try:
            return self._carry_out()
        except OwnedByAnother as refused:
            self._note(refused)
            raise

    def _carry_out(self) -> Synced:
        reading = self._engine.store.views(list(self._schedules))
        views = self._engine.read(reading)
        outdated = self._check_owners(views)
        # One that this process cannot read exists, and is left to those who can.
        known = {view.schedule.name for view in views}
        known.update(each.name for each in reading.unreadable)
        created = self._create_missing(known)
        rest = [each for each in self._schedules.values() if each.name not in created]
        orders = {each.name: order for each in rest if (order := self._declare(each))}
        enabled = [name for name, order in orders.items() if _is_enabled_again(order)]
        # After everything that this release declares is stored: two releases that start at once
        # may miss each other's schedules only if neither had stored one before its scan.
        survey = self._survey()
        disabled = self._prune(survey, created)
        orphaned = self._orphans(survey, disabled)
        self._report(enabled, survey)
        self._report_outdated(outdated)
        return Synced(
            created=tuple(created),
            changed=tuple(orders),
            disabled=tuple(disabled),
            enabled=tuple(enabled),
            orphaned=tuple(orphaned),
            withheld=(*survey.withheld, *outdated),
            adopted=tuple(self._report_adopted(orders)),
        )

    def _check_owners(self, views: Iterable[View]) -> dict[str, str | None]:
        """Return what a newer release took over from the owner of this code, and for whom.

        Raises:
            OwnedByAnother: names every schedule of another owner that this code does not adopt.
        """
        owned, outdated = list[OwnedName](), dict[str, str | None]()
        for schedule in (view.schedule for view in views):
            declared = self._schedules[schedule.name]
            owner, has = declared.definition.owner, schedule.definition.owner
            standing = standing_of(schedule, owner=owner, release=self._release)
            if standing is Standing.OUTDATED:
                outdated[schedule.name] = has
            elif standing is Standing.TAKEN and not declared.adopt:
                owned.append(OwnedName(schedule.name, has, declared_as=owner))
        if owned:
            raise OwnedByAnother(sorted(owned))
        return outdated

    def _note(self, refused: OwnedByAnother) -> None:
        """Record a refusal in its schedules: `sempre status` shows the refusal to the owner."""
        for name in refused.taken:
            owner = self._schedules[name].definition.owner
            # Other processes keep changing the schedule: the refusal is raised without a record.
            with suppress(Contended):
                self._apply(name, partial(plan_refuse, owner=owner))

    def _report_outdated(self, outdated: Mapping[str, str | None]) -> None:
        for name, owner in outdated.items():
            code = f"owner {owner}" if owner else "no owner"
            remedy = f"deploy the code with {code}"
            self._tell(Happened.OUTDATED, name, f"a newer release declares it with {code}", remedy)

    def _report_adopted(self, orders: Mapping[str, Order]) -> list[str]:
        adopted = []
        for name, order in orders.items():
            before, after = order.plan.base, order.plan.schedule
            if before and after and before.definition.owner != after.definition.owner:
                adopted.append(name)
                if before.definition.owner:
                    self._tell(Happened.ADOPTED, name, f"owner {before.definition.owner} had it")
        return adopted

    def _create_missing(self, known: Collection[str]) -> list[str]:
        missing = [each for each in self._schedules.values() if each.name not in known]
        made = self._target.create(missing, release=self._release)
        return [each.name for each, done in zip(missing, made, strict=True) if done]

    def _declare(self, declared: Declared) -> Order | None:
        """Apply the changes of one declaration; None if there are none."""
        to, release, adopt = declared.definition, self._release, declared.adopt
        verb = partial(plan_declare, to=to, release=release, adopt=adopt)
        return self._apply(declared.name, verb, self._why_declared)

    def _survey(self) -> _Survey:
        """Scan the schedules of the store, all of them if there is an owner."""
        survey = _Survey(newest=self._release)
        for schedule in islice(self._target.schedules(), None if self._owner else MOST):
            declared = schedule.declared
            if self._owner and declared and schedule.definition.owner == self._owner:
                survey.newest = max(survey.newest, newest_release(declared) or 0)
                if schedule.name not in self._schedules:
                    survey.gone.append(schedule)
                elif is_pruned(declared):
                    survey.withheld.append(schedule.name)
            if self._is_stranger(schedule):
                survey.strangers.append(schedule)
        return survey

    def _is_stranger(self, schedule: Schedule) -> bool:
        """Return whether a schedule may be an orphan: other owners report their own."""
        ours = schedule.definition.owner in (None, self._owner)
        return ours and schedule.name not in self._schedules and is_orphan(schedule, self._jobs)

    def _prune(self, survey: _Survey, created: Iterable[str]) -> list[str]:
        """Disable schedules that the newest release no longer declares; return the names.

        A lower release disables only schedules that it has just created: the newest lacks those.
        """
        release = survey.newest
        dropped = [each for each in survey.gone if is_dropped_since(each.declared, release)]
        names = [each.name for each in dropped] if release == self._release else list(created)
        prune, why = partial(plan_prune, release=release), self._dropped_by(release)
        orders = {name: self._apply(name, prune, lambda _: why) for name in names}
        pruned = [name for name, order in orders.items() if order and _is_disabled(order)]
        for name in pruned:
            remedy = f"declare it again, or: sempre enable {name}"
            self._tell(Happened.PRUNED, name, self._dropped_by(release), remedy)
        return pruned

    def _orphans(self, survey: _Survey, disabled: Collection[str]) -> list[str]:
        """Report schedules that no code declares, or whose job no worker knows."""
        strangers = [each for each in survey.strangers if each.name not in disabled]
        jobs = self._jobs_of_others() if strangers else frozenset[str]()
        orphans = {each.name: each for each in strangers if is_orphan(each, jobs)}
        for name, schedule in orphans.items():
            reason = f"no worker knows its job {schedule.definition.job}"
            remedy = f"start a worker that declares the job, or: sempre disable {name}"
            self._tell(Happened.ORPHANED, name, reason, remedy)
        kept = [each.name for each in survey.gone if is_gone(each.declared) and _is_on(each)]
        for name in kept:
            reason = f"{self._dropped_by(survey.newest)}, and an operator enabled it"
            self._tell(Happened.ORPHANED, name, reason, f"sempre disable {name}")
        return sorted({*orphans, *kept})

    def _jobs_of_others(self) -> frozenset[str]:
        reading = self._engine.store.sessions()
        sessions = self._engine.read(reading)
        return known_jobs(sessions, reading.now)

    def _report(self, enabled: Iterable[str], survey: _Survey) -> None:
        for name in enabled:
            self._tell(Happened.REENABLED, name, "an earlier deploy had disabled it")
        for name in survey.withheld:
            remedy = f"deploy with release={survey.newest} or higher, or: sempre enable {name}"
            self._tell(Happened.WITHHELD, name, self._dropped_by(survey.newest), remedy)

    def _dropped_by(self, release: int) -> str:
        return f"{code_words(release, self._owner)} declares it no more"

    def _tell(self, what: Happened, name: str, reason: str, remedy: str = "") -> None:
        self._target.tell(what, schedule=name, reason=reason, remedy=remedy)

    def _why_declared(self, plan: Plan) -> str:
        return why_declared(plan, code_words(self._release, self._owner))

    def _apply(
        self, name: str, verb: Verb, why: Callable[[Plan], str] | None = None
    ) -> Order | None:
        """Carry out a plan of a deploy; log it, with the reason, if it changes the definition."""
        return self._target.apply(name, verb, act=why and deploy_act(name, why))


def known_jobs(sessions: Iterable[Session], now: datetime) -> frozenset[str]:
    """Return the names of the jobs that a live worker knows."""
    alive = (each for each in sessions if each.leased_until and each.leased_until > now)
    return frozenset(job for each in alive for job in each.jobs)


def is_orphan(schedule: Schedule, jobs: Collection[str]) -> bool:
    """Return whether a schedule waits for its next slot, and its job is not among these."""
    return schedule.next_run_at is not None and schedule.definition.job not in jobs


def _is_on(schedule: Schedule | None) -> bool:
    return schedule is not None and schedule.definition.enabled


def _is_enabled_again(order: Order) -> bool:
    plan = order.plan
    was_pruned = plan.base is not None and is_pruned(plan.base.declared)
    return was_pruned and _is_on(plan.schedule)


def _is_disabled(order: Order) -> bool:
    return _is_on(order.plan.base) and not _is_on(order.plan.schedule)
