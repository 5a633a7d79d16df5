"""Databases that keep fewer promises than the store makes: refused, unless an option accepts."""

from sempre.errors import StoreRefused

__all__ = ["accept"]


def accept(place: str, fault: str, *, remedy: str, keyword: str, accepted: bool) -> list[str]:
    """Return a fault of a database as a sentence, if an option of the store's URL accepts it.

    Args:
        place: the address of the database.
        fault: what is wrong with the database, and what follows from that.
        remedy: how to mend the fault, as a sentence without its full stop.
        keyword: the name of the option.
        accepted: whether the option is set.

    Raises:
        StoreRefused: the option is not set.
    """
    if accepted:
        return [f"{fault}."]
    raise StoreRefused(
        f"{place} must not be a store: {fault}. {remedy}, or accept it with ?{keyword}=1 in the "
        "store URL."
    )
