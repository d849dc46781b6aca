"""Orders and what they add up to."""


def order(db, order_id):
    return db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()


def lines(db, order_id):
    return db.execute("SELECT * FROM lines WHERE order_id = ?", (order_id,)).fetchall()


def total(db, order_id):
    return sum(line["price"] * line["count"] for line in lines(db, order_id))
