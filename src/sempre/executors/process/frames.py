"""Messages on a stream: JSON, each with its length in four bytes before it."""

import json
from collections.abc import Iterator
from typing import Any

from sempre.errors import SempreError

__all__ = ["BrokenFrame", "Frames", "framed", "packed"]

# Above the highest `result_limit`, with room for what goes around a result.
LARGEST = 8_388_608
_LENGTH = 4
_text_of = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class BrokenFrame(SempreError):
    """What came is no message of ours: somebody else wrote on the stream."""


def packed(message: dict[str, Any]) -> bytes:
    """Return a message as it goes over the wire."""
    return framed(_text_of(message))


def framed(text: str) -> bytes:
    """Return a message that is JSON already as it goes over the wire."""
    body = text.encode("utf-8", "surrogatepass")
    return len(body).to_bytes(_LENGTH, "big") + body


class Frames:
    """The messages in what has arrived so far.

    Attributes:
        largest: how many bytes a message has at most; a larger one is refused by its length.
    """

    def __init__(self) -> None:
        self.largest = LARGEST
        self._arrived = b""

    def feed(self, raw: bytes) -> Iterator[dict[str, Any]]:
        """Yield the messages that are complete now.

        Raises:
            BrokenFrame: this is nothing that `packed` made; whatever follows is lost.
        """
        arrived = self._arrived = self._arrived + raw
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
            arrived = self._arrived = arrived[end:]
            yield _read(body)


def _read(body: bytes) -> dict[str, Any]:
    try:
        text = body.decode("utf-8", "surrogatepass")
        # Not `loads`, which would also look for blanks around it, of which we send none.
        message, end = _read_text(text)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame(f"a message that is no JSON: {error}") from None
    if not isinstance(message, dict) or end < len(text):
        raise BrokenFrame(f"a message that is a {type(message).__name__}, or more than one")
    return message


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


_read_text = json.JSONDecoder(parse_constant=_refuse).raw_decode
