import unittest

from shop import db, orders


class Orders(unittest.TestCase):
    def setUp(self):
        self.db = db.connect(":memory:")
        self.db.executescript(
            """CREATE TABLE orders (id, customer, placed);
               CREATE TABLE lines (order_id, price, count);
               INSERT INTO orders VALUES (1, 'Ada', '2026-01-05');
               INSERT INTO lines VALUES (1, 250, 2), (1, 100, 1);"""
        )

    def test_a_total_is_the_sum_of_the_lines(self):
        self.assertEqual(orders.total(self.db, 1), 600)


if __name__ == "__main__":
    unittest.main()
