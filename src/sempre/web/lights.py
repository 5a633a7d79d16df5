"""Lights: the state of a schedule, execution or worker as a shape and a colour, with its word."""

from markupsafe import Markup

__all__ = ["SHAPES", "TONES", "light"]

_RING = '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/>'
_DISC = '<circle cx="8" cy="8" r="6.5" fill="currentColor"/>'
_ROUND = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
_WHITE = f'{_ROUND} class="light-inner" stroke-width="2"'
_LINE = f'{_ROUND} stroke="currentColor" stroke-width="2.4"'
SHAPES = {
    "check": f'{_DISC}<path {_WHITE} d="M5 8.3l2.1 2.1L11 6"/>',
    "cross": f'<path fill="currentColor" d="M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5z"/>'
    f'<path {_WHITE} d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4"/>',
    "clock": f'{_RING}<path {_LINE} d="M8 5v3.2l2 1.3"/>',
    "bars": f'<path {_LINE} d="M5.5 3.5v9M10.5 3.5v9"/>',
    "square": '<rect x="2" y="2" width="12" height="12" rx="2" fill="currentColor"/>'
    f'<path {_WHITE} d="M5 8h6"/>',
    "plus": f'<path {_LINE} d="M8 3v10M3 8h10"/>',
    "dash": f'<path {_LINE} d="M3 8h10"/>',
    "ring": _RING,
    "dot": '<circle cx="8" cy="8" r="3" fill="currentColor"/>',
    "warning": '<path fill="currentColor" d="M8 1.2l7 13H1z"/>'
    f'<path {_WHITE} d="M8 6v3.5M8 12v.1"/>',
    "play": '<path fill="currentColor" d="M4 2.2l10 5.8-10 5.8z"/>',
    "skip": f'<path {_LINE} d="M3 4l4 4-4 4M9 4l4 4-4 4"/>',
    "gap": '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2" '
    f'stroke-dasharray="3.2 2.5"/><path {_LINE} d="M8 5.6v2.6M8 10.8v.1"/>',
    "slash": f'{_RING}<path {_LINE} d="M4.2 11.8l7.6-7.6"/>',
    "arrow": f'<path {_LINE} d="M3 8h9M8.5 4l4 4-4 4"/>',
}
"""The drawings, 16 by 16."""
TONES = {
    "ok": ("check", "good"),
    "succeeded": ("check", "good"),
    "alive": ("check", "good"),
    "late": ("clock", "warn"),
    "failing": ("cross", "bad"),
    "failed": ("cross", "bad"),
    "expired": ("cross", "bad"),
    "error": ("cross", "bad"),
    "warning": ("warning", "warn"),
    "broken": ("warning", "bad"),
    "paused": ("bars", "held"),
    "held": ("bars", "held"),
    "draining": ("bars", "warn"),
    "stopped": ("square", "bad"),
    "waiting": ("plus", "warn"),
    "disabled": ("dash", "mute"),
    "never ran": ("ring", "mute"),
    "ended": ("dot", "mute"),
    "running": ("play", "live"),
    "scheduled": ("clock", "mute"),
    "due": ("clock", "mute"),
    "pending": ("ring", "mute"),
    "created": ("dot", "mute"),
    "skipped": ("skip", "mute"),
    "superseded": ("arrow", "mute"),
    "missed": ("gap", "warn"),
    "cancelled": ("slash", "mute"),
}
"""The shape and the tone of each state; no two states of one list share both."""


def light(state: str, *, word: bool = False, text: str = "") -> Markup:
    """Return the light of a state; with its word, or with another text beside it."""
    shape, tone = TONES.get(state, ("ring", "mute"))
    label = text or state
    drawn = Markup('<svg class="light tone-{}" viewBox="0 0 16 16" {}>{}</svg>').format(
        tone,
        Markup('aria-hidden="true"')
        if word
        else Markup('role="img" aria-label="{}"').format(label),
        Markup(SHAPES[shape]),  # noqa: S704 - a constant of this module
    )
    if not word:
        return drawn
    return Markup('<span class="state tone-{}">{}<span>{}</span></span>').format(tone, drawn, label)
