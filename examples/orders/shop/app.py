"""The shop: who buys something here gets a row in `purchase`. The lab runs it as a service."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import psycopg2
from fastapi import FastAPI
from pydantic import BaseModel, Field

app = FastAPI()


class Purchase(BaseModel):
    customer_id: int
    sku: str
    quantity: int = Field(default=1, gt=0)
    paid: Decimal


@contextmanager
def orders() -> Iterator["psycopg2.extensions.cursor"]:
    """Open the database; commit at the end of the block."""
    connection = psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=3)
    try:
        with connection, connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


@app.get("/health")
def health() -> dict[str, str]:
    with orders() as cursor:
        cursor.execute("SELECT 1")
    return {"status": "up"}


@app.post("/purchases", status_code=201)
def buy(purchase: Purchase) -> dict[str, int]:
    with orders() as cursor:
        cursor.execute(
            "INSERT INTO purchase (customer_id, sku, quantity, paid)"
            " VALUES (%(customer_id)s, %(sku)s, %(quantity)s, %(paid)s) RETURNING purchase_id",
            purchase.model_dump(),
        )
        ((purchase_id,),) = cursor.fetchall()
    return {"purchase_id": purchase_id}
