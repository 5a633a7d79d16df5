"""Times as commands write them; `sempre.app.times` has their rules."""

from sempre.app.times import format_age, format_duration, format_instant, json_instant, zone_of

__all__ = ["format_age", "format_duration", "format_instant", "json_instant", "zone_of"]
