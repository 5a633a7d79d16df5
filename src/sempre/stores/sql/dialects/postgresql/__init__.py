"""PostgreSQL as a database of the store."""

from sempre.stores.sql.dialects.postgresql.dialect import Postgresql, driver_options

__all__ = ["Postgresql", "driver_options"]
