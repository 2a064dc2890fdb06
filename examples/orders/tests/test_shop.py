"""Tests of what the shop's services rely on: each of their changes arrives in silver.

The fixtures come with labctl; its docs/testing.md explains them.
"""

import uuid
from decimal import Decimal

import requests

from labctl.lab.tables.verification import verify_lab


def require_parity(lab):
    report = verify_lab(lab, timeout=180)
    assert report.equal, [(table.silver, table.state, table.reason) for table in report.tables]


def place_purchase(orders, quantity=1):
    """Insert a purchase of one teapot or more, and return its id."""
    ((purchase_id,),) = orders.execute(
        "INSERT INTO purchase (customer_id, sku, quantity, paid)"
        " VALUES (1, 'teapot', %s, 34.00 * %s) RETURNING purchase_id",
        (quantity, quantity),
    )
    return purchase_id


def test_parity(lab, silver):
    require_parity(lab)
    assert {row["sku"] for row in silver("product")} >= {"cup-blue", "cup-white", "teapot"}


def test_update(source, silver, eventually):
    email = f"{uuid.uuid4().hex}@example.com"
    source("orders").execute("UPDATE customer SET email = %s WHERE customer_id = 1", (email,))
    eventually(
        lambda: [row["email"] for row in silver("customer", "customer_id = 1")] == [email],
        row=("customer", {"customer_id": 1}),
    )


def test_delete(source, silver, eventually):
    orders = source("orders")
    purchase = place_purchase(orders)
    followed = {"row": ("purchase", {"purchase_id": purchase})}
    eventually(lambda: silver("purchase", f"purchase_id = {purchase}"), **followed)
    orders.execute("DELETE FROM purchase WHERE purchase_id = %s", (purchase,))
    eventually(lambda: not silver("purchase", f"purchase_id = {purchase}"), **followed)
    # Deletes are soft: what was bought can still be asked for.
    (row,) = silver("purchase", f"purchase_id = {purchase}", deleted=True)
    assert (row["sku"], row["__op"]) == ("teapot", "d")


def test_schema_change(clean_lab, source, silver, eventually):
    """`clean_lab` is as before the session, and will be again: the column is new in every run."""
    stock = source("stock")
    stock.execute("ALTER TABLE product ADD COLUMN weight_grams integer")
    stock.execute("UPDATE product SET weight_grams = 900 WHERE sku = 'teapot'")
    eventually(
        lambda: [row.get("weight_grams") for row in silver("product", "sku = 'teapot'")] == [900],
        row=("product", {"sku": "teapot"}),
    )
    require_parity(clean_lab)


def test_fault(lab, faults, source, silver, eventually):
    """Kafka dies in the middle of a sale: nothing is lost, and nothing is there twice."""
    orders = source("orders")
    bought = [place_purchase(orders, quantity) for quantity in range(1, 11)]
    faults.kill("kafka")
    bought += [place_purchase(orders, quantity) for quantity in range(1, 11)]
    wanted = ", ".join(map(str, bought))
    eventually(
        lambda: (
            sorted(row["purchase_id"] for row in silver("purchase", f"purchase_id IN ({wanted})"))
            == sorted(bought)
        ),
        row=("purchase", {"purchase_id": bought[-1]}),
    )
    require_parity(lab)


def test_the_shop_sells_again_after_it_was_killed(lab, faults, endpoints, silver, eventually):
    shop = f"http://{endpoints.addresses['shop']['http']}"

    def buy():
        purchase = {"customer_id": 1, "sku": "teapot", "paid": "34.00"}
        answer = requests.post(f"{shop}/purchases", json=purchase, timeout=10)
        answer.raise_for_status()
        return answer.json()["purchase_id"]

    def is_open():
        try:
            return requests.get(f"{shop}/health", timeout=3).ok
        except requests.RequestException:
            return False

    bought = [buy()]
    faults.kill("shop")
    eventually(is_open)
    bought.append(buy())
    wanted = ", ".join(map(str, bought))
    eventually(
        lambda: (
            [row["paid"] for row in silver("purchase", f"purchase_id IN ({wanted})")]
            == [Decimal("34.00")] * 2
        ),
        row=("purchase", {"purchase_id": bought[-1]}),
    )
