"""Messages between worker and child: JSON, after its length in four bytes."""

import json
from collections.abc import Iterator
from typing import Any

from sempre.errors import SempreError

__all__ = ["BrokenFrame", "FrameReader", "encode_frame"]

# Above the highest `result_limit`, with room for the rest of a report.
LARGEST = 8_388_608
_LENGTH = 4
_encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class BrokenFrame(SempreError):
    """The bytes are no message of ours: other code wrote to the stream."""


def encode_frame(message: dict[str, Any]) -> bytes:
    """Return a message as bytes."""
    body = _encode_json(message).encode("utf-8", "surrogatepass")
    return len(body).to_bytes(_LENGTH, "big") + body


class FrameReader:
    """Decodes a stream of messages that arrives in pieces.

    Attributes:
        largest: the most bytes of a message; the length of a larger message is refused.
    """

    def __init__(self) -> None:
        self.largest = LARGEST
        self._incomplete = b""

    def feed(self, raw: bytes) -> Iterator[dict[str, Any]]:
        """Yield the messages that are complete now.

        Raises:
            BrokenFrame: `encode_frame` made no such bytes; the rest of the stream is unreadable.
        """
        arrived = self._incomplete = self._incomplete + raw
        while len(arrived) >= _LENGTH:
            length = int.from_bytes(arrived[:_LENGTH], "big")
            if length > self.largest:
                raise BrokenFrame(
                    f"a message of {length:,} bytes; at most {self.largest:,} are sent"
                )
            end = _LENGTH + length
            if len(arrived) < end:
                return
            body = arrived[_LENGTH:end]
            arrived = self._incomplete = arrived[end:]
            yield _decode(body)


def _decode(body: bytes) -> dict[str, Any]:
    try:
        text = body.decode("utf-8", "surrogatepass")
        # Not `loads`, which would skip blanks around the object: ours has none.
        message, end = _decode_json(text)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame(f"a message that is no JSON: {error}") from None
    if not isinstance(message, dict) or end < len(text):
        raise BrokenFrame(f"a message that is a {type(message).__name__}, or more than one")
    return message


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


_decode_json = json.JSONDecoder(parse_constant=_refuse).raw_decode
