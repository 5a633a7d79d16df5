"""MariaDB as a database of the store."""

from sempre.stores.sql.dialects.mariadb.dialect import Mariadb

__all__ = ["Mariadb"]
