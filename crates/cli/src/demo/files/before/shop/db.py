"""One connection a request; rows are read by name."""

import sqlite3


def connect(path="shop.db"):
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    return connection
