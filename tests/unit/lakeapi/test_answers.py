"""JSON as it is sent, and the version of a table."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from lakeapi.answers import to_json
from lakeapi.models import Listing, Sale
from lakeapi.versions import version

AMOUNTS = st.decimals(min_value=-999999, max_value=999999, places=2)


@given(price=AMOUNTS, commission=AMOUNTS)
def test_decimals_are_numbers_with_all_their_digits(price: Decimal, commission: Decimal) -> None:
    values = dict.fromkeys(Sale.model_fields) | {"price_paid": price, "commission": commission}
    body = to_json([Sale.model_validate(values | {"id": "3"})]).decode()
    assert f'"pricePaid":{price:.2f},"commission":{commission:.2f}' in body


def test_texts_of_athena_are_typed() -> None:
    texts = ("1", "2", "3", "4", "10", "182.00", "2008-01-24 06:43:29.000")
    listing = Listing.model_validate(dict(zip(Listing.model_fields, texts, strict=True)))
    assert to_json(listing).decode() == (
        '{"id":1,"sellerId":2,"eventId":3,"dateId":4,"numTickets":10,"pricePerTicket":182.00,'
        '"listTime":"2008-01-24T06:43:29"}'
    )


def test_a_table_says_its_last_commit() -> None:
    hudi = {"last_commit_time_sync": "20250101", "last_commit_completion_time_sync": "20250102"}
    assert version({"Name": "t", "Parameters": hudi}) == "20250102"
    assert version({"Name": "t", "Parameters": {"last_commit_time_sync": "20250101"}}) == "20250101"
    first = version({"Name": "t", "VersionId": "1", "UpdateTime": datetime(2025, 1, 1, tzinfo=UTC)})
    assert first != version({"Name": "t", "VersionId": "2"}) != version({"Name": "t"})
