"""Explanations of slots and executions as JSON values, for commands, pages and the API."""

from sempre.app.presentation.fields import json_value
from sempre.app.times import json_instant
from sempre.domain.explanation import Cause, Explanation
from sempre.domain.explanation.wording import Speech, sentence_of, verdict_sentence

__all__ = ["explanation_json"]


def explanation_json(explanation: Explanation, speech: Speech) -> dict[str, object]:
    """Return an explanation: the verdict and each cause, as codes and as sentences."""
    return {
        "name": explanation.name,
        "slot": json_instant(explanation.slot),
        "execution": explanation.execution or None,
        "zone": explanation.zone,
        "verdict": explanation.verdict.value,
        "sentence": verdict_sentence(explanation, speech),
        "late_s": None if explanation.late is None else explanation.late.total_seconds(),
        "causes": [_cause(cause, speech) for cause in explanation.causes],
    }


def _cause(cause: Cause, speech: Speech) -> dict[str, object]:
    return {
        "code": cause.code.value,
        "at": json_instant(cause.at),
        "sentence": sentence_of(cause, speech),
        "facts": {name: json_value(value) for name, value in cause.facts.items()},
    }
