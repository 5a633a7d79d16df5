"""What comes from elsewhere: texts that are nearly right, and what people or attackers send."""

import json

from hypothesis import strategies as st

__all__ = ["any_text", "json_texts", "near_urls"]

# Controls, digits that are no numbers, what turns a line round, and what cannot be encoded.
ODD = ("\0", "\n", "\r\n", "\x1b[2J", "²", "٣", "\u202e", "\u2028", "\ud800", "\uffff", "😀")
any_text = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(ODD) | st.text(max_size=5), max_size=6).map("".join),
    st.sampled_from(["9" * 5000, "[" * 3000, '{"a":' * 2000, "1e999", "NaN", "-0", " "]),
)
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    any_text,
)
_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)
json_texts = st.one_of(
    any_text,
    _values.map(json.dumps),
    st.lists(_leaves, min_size=3, max_size=3).map(json.dumps),
    st.dictionaries(
        st.sampled_from(["scheduler", "interval", "sentinel", "x"]), _leaves, max_size=3
    ).map(json.dumps),
    st.integers(1, 3000).map(lambda depth: "[" * depth + "]" * depth),
)
_schemes = st.sampled_from(
    ["memory", "sqlite", "postgresql", "mariadb", "redis", "rediss", "store", "beanstalkd", "x"]
)
_places = st.one_of(
    any_text,
    st.sampled_from(
        ["", "host", "user:secret@host:1", "host:99999", "host:x", "[::1", "[::1]:5", "@", "a@b@c"]
    ),
)
_options = st.dictionaries(
    st.sampled_from(
        ["prefix", "schema", "connections", "listen", "read_only", "any_flush", "other", "host"]
    ),
    any_text | st.sampled_from(["0", "1", "2", "sempre_", "-1", "1" * 5000]),
    max_size=3,
).map(lambda options: "&".join(f"{name}={value}" for name, value in options.items()))
near_urls = st.one_of(
    any_text,
    st.builds(
        "{}://{}{}?{}".format, _schemes, _places, st.sampled_from(["", "/", "/x", "/%00"]), _options
    ),
)
