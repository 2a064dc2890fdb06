"""The endpoints' response models. Their fields are in the order of the columns that are read."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel

__all__ = [
    "BuyerLikes", "Category", "Date", "Event", "Health", "Listing", "Model", "Problem", "Sale",
    "SaleBySeller", "SalesByCategory", "User", "Venue",
]  # fmt: skip

Amount = Annotated[Decimal, WithJsonSchema({"type": "number"})]
"""A number with all its digits."""
Clock = Annotated[datetime, WithJsonSchema({"type": "string", "format": "date-time-local"})]
"""A date and a time of day without a zone."""


class Model(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True
    )


def _like(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


class Category(Model):
    model_config = _like(
        id=1, group="Sports", name="MLB", description="Major League Baseball"
    )  # fmt: skip
    id: int
    group: str | None
    name: str | None
    description: str | None


class Date(Model):
    model_config = _like(
        id=1827, calendarDate="2008-01-01", day="WE", week=1, month="JAN", quarter="1",
        year=2008, holiday=True,
    )  # fmt: skip
    id: int
    calendar_date: date | None
    day: str | None
    week: int | None
    month: str | None
    quarter: str | None
    year: int | None
    holiday: bool | None


class Event(Model):
    model_config = _like(
        id=1, venueId=305, catId=8, dateId=1851, name="A concert",
        startTime="2008-01-25T14:30:00",
    )  # fmt: skip
    id: int
    venue_id: int | None
    cat_id: int | None
    date_id: int | None
    name: str | None
    start_time: Clock | None


class Listing(Model):
    model_config = _like(
        id=1, sellerId=36861, eventId=7872, dateId=1850, numTickets=10, pricePerTicket=182.00,
        listTime="2008-01-24T06:43:29",
    )  # fmt: skip
    id: int
    seller_id: int | None
    event_id: int | None
    date_id: int | None
    num_tickets: int | None
    price_per_ticket: Amount | None
    list_time: Clock | None


class Sale(Model):
    model_config = _like(
        id=1, listId=1, sellerId=36861, buyerId=21191, eventId=7872, dateId=1875, qtySold=4,
        pricePaid=728.00, commission=109.20, saleTime="2008-02-18T02:36:48",
    )  # fmt: skip
    id: int
    list_id: int | None
    seller_id: int | None
    buyer_id: int | None
    event_id: int | None
    date_id: int | None
    qty_sold: int | None
    price_paid: Amount | None
    commission: Amount | None
    sale_time: Clock | None


class User(Model):
    model_config = _like(
        id=1, username="ABC12DEF", firstName="Ada", lastName="Example", city="Springfield",
        state="ON", email="ada@example.org", phone="(555) 555-0100", likeSports=True,
        likeTheatre=False, likeConcerts=False, likeJazz=False, likeClassical=True, likeOpera=False,
        likeRock=True, likeVegas=False, likeBroadway=False, likeMusicals=True,
    )  # fmt: skip
    id: int
    username: str | None
    first_name: str | None
    last_name: str | None
    city: str | None
    state: str | None
    email: str | None
    phone: str | None
    like_sports: bool | None
    like_theatre: bool | None
    like_concerts: bool | None
    like_jazz: bool | None
    like_classical: bool | None
    like_opera: bool | None
    like_rock: bool | None
    like_vegas: bool | None
    like_broadway: bool | None
    like_musicals: bool | None


class Venue(Model):
    model_config = _like(id=1, name="A stadium", city="Springfield", state="ON", seats=63026)
    id: int
    name: str | None
    city: str | None
    state: str | None
    seats: int | None


class SalesByCategory(Model):
    model_config = _like(
        calendarDate="2008-01-01", categoryGroup="Concerts", categoryName="Pop",
        saleAmount=1234.50, commission=185.18,
    )  # fmt: skip
    calendar_date: date
    category_group: str | None
    category_name: str | None
    sale_amount: Amount | None
    commission: Amount | None


class SaleBySeller(Model):
    model_config = _like(
        calDate="2008-02-18", pricePaid=728.00, qtySold=4, saleAmount=2912.00, commission=109.20,
        commissionPrcnt=3.75, eventName="A concert", seller="Ada Example", buyer="Bob Example",
        catGroup="Concerts", catName="Pop",
    )  # fmt: skip
    cal_date: date | None
    price_paid: Amount | None
    qty_sold: int | None
    sale_amount: Amount | None
    commission: Amount | None
    commission_prcnt: Amount | None
    event_name: str | None
    seller: str | None
    buyer: str | None
    cat_group: str | None
    cat_name: str | None


class BuyerLikes(Model):
    model_config = _like(
        sports=120, theatre=110, concerts=100, jazz=90, classical=80, opera=70, rock=60, vegas=50,
        broadway=40, musicals=30,
    )  # fmt: skip
    sports: int
    theatre: int
    concerts: int
    jazz: int
    classical: int
    opera: int
    rock: int
    vegas: int
    broadway: int
    musicals: int


class Problem(BaseModel):
    """RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str
    """The path of the request."""


class Component(BaseModel):
    status: str
    detail: str | None = None


class Health(BaseModel):
    """UP, DOWN, or DEGRADED: slower, since the cache is away."""

    status: str
    components: dict[str, Component]
