"""What a server must be like, and what it means to use one that is not."""

from sempre.errors import StoreRefused

__all__ = ["weaker"]


def weaker(place: str, fault: str, *, remedy: str, keyword: str, accepted: bool) -> list[str]:
    """Return what a server promises less, as a sentence, if somebody has accepted that.

    Args:
        place: where the database is.
        fault: what is wrong with it, and what comes of that.
        remedy: how to mend it, as a sentence without its full stop.
        keyword: the option that accepts it.
        accepted: whether that was given.

    Raises:
        StoreRefused: nobody has.
    """
    if accepted:
        return [f"{fault}."]
    raise StoreRefused(
        f"{place} must not be a store: {fault}. {remedy}, or accept it with ?{keyword}=1 in the "
        "store URL."
    )
