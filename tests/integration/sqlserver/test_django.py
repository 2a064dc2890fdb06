"""A Django project on mssql-django: migrations, the admin pages, queries, transactions."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest

from tests.integration.sqlserver.conftest import PASSWORD, StandIn

SITE = "tests.integration.sqlserver.django_site"


@pytest.fixture(scope="module")
def site(standin: StandIn, odbc_driver: str) -> Iterator[Any]:
    """The project's models, with the tables that `migrate` makes: once for all tests."""
    import django
    from django.conf import settings

    sql = standin.connect()
    sql.cursor().execute("CREATE DATABASE django")
    sql.close()
    context = "django.contrib.{}.context_processors.{}"
    settings.configure(
        SECRET_KEY=PASSWORD,
        ALLOWED_HOSTS=["*"],
        USE_TZ=True,
        TIME_ZONE="UTC",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        ROOT_URLCONF=f"{SITE}.urls",
        STATIC_URL="/static/",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        INSTALLED_APPS=[
            "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
            "django.contrib.sessions", "django.contrib.messages",
            SITE,
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
            "OPTIONS": {"context_processors": [
                "django.template.context_processors.request", context.format("auth", "auth"),
                context.format("messages", "messages"),
            ]},
        }],
        DATABASES={"default": {
            "ENGINE": "mssql", "NAME": "django", "HOST": "127.0.0.1", "PORT": str(standin.port),
            "USER": "sa", "PASSWORD": PASSWORD,
            "OPTIONS": {
                "driver": odbc_driver, "host_is_server": True, "connection_retries": 0,
                "extra_params": "TDS_Version=7.4;ClientCharset=UTF-8",
            },
        }},
    )  # fmt: skip
    django.setup()
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", run_syncdb=True, verbosity=0)
    from tests.integration.sqlserver.django_site import models

    yield models
    connections.close_all()


def test_accounts_and_sessions(site: Any) -> None:
    from django.contrib.auth.models import Group, Permission, User
    from django.contrib.sessions.backends.db import SessionStore
    from django.core.management import call_command

    user = User.objects.create_superuser("root", "root@example.org", "secret")
    group = Group.objects.create(name="editors")
    group.permissions.set(Permission.objects.filter(codename__startswith="add"))
    user.groups.add(group)
    assert User.objects.get(groups__name="editors").check_password("secret")
    assert Permission.objects.select_related("content_type").order_by(
        "content_type__app_label", "codename"
    )[0].codename == "add_logentry"  # fmt: skip
    session = SessionStore()
    session["cart"] = [1, 2]
    session.save()
    assert SessionStore(session.session_key)["cart"] == [1, 2]
    call_command("clearsessions")


@pytest.fixture
def books(site: Any) -> Iterator[Any]:
    """Ten books by three authors."""
    authors = [site.Author.objects.create(name=f"author {n}") for n in range(3)]
    start = dt.datetime(2026, 1, 15, 10, 30, tzinfo=dt.UTC)
    for n in range(10):
        site.Book.objects.create(
            title=f"Book {n}", author=authors[n % 3], price=Decimal(n), sold=n,
            published=start + dt.timedelta(days=31 * n), data={"n": n, "in": {"word": f"w{n}"}},
            uid=uuid.UUID(int=n), length=dt.timedelta(hours=n), raw=bytes([n]),
        )  # fmt: skip
    yield site.Book.objects
    site.Author.objects.all().delete()


def test_queries(books: Any) -> None:
    from django.core.paginator import Paginator
    from django.db.models import Avg, Count, Exists, F, Max, OuterRef, Q, Subquery, Sum, Window
    from django.db.models.functions import RowNumber, TruncMonth, Upper

    book = books.get(title="Book 3")
    assert (book.price, book.uid, book.length) == (3, uuid.UUID(int=3), dt.timedelta(hours=3))
    assert (book.data, bytes(book.raw)) == ({"n": 3, "in": {"word": "w3"}}, b"\3")
    assert book.published == dt.datetime(2026, 4, 18, 10, 30, tzinfo=dt.UTC)
    found = books.filter(Q(title__icontains="BOOK 1") | Q(author__name="author 0"), sold__gt=0)
    assert [b.title for b in found] == ["Book 1", "Book 3", "Book 6", "Book 9"]
    assert books.filter(published__year=2026, published__month__gte=10).count() == 1
    assert books.filter(published__date=dt.date(2026, 4, 18)).get() == book
    assert len(books.dates("published", "month")) == 10
    months = books.annotate(m=TruncMonth("published")).values("m").annotate(n=Count("id"))
    assert {row["n"] for row in months} == {1}
    assert books.aggregate(Sum("price"), Avg("sold"), Max("published"))["price__sum"] == 45
    assert books.values("author__name").annotate(n=Count("id")).order_by("-n")[0]["n"] == 4
    assert [len(p.object_list) for p in Paginator(books.order_by("-price", "pk"), 4)] == [4, 4, 2]
    latest = books.filter(author=OuterRef("author")).order_by("-sold").values("title")[:1]
    assert books.annotate(top=Subquery(latest)).filter(title=F("top")).count() == 3
    assert books.filter(Exists(books.filter(sold=OuterRef("sold"), price__gt=7))).count() == 2
    numbered = books.annotate(n=Window(RowNumber(), partition_by="author", order_by="price"))
    assert max(b.n for b in numbered) == 4
    assert books.annotate(u=Upper("title")).filter(u="BOOK 3").exists()
    assert books.filter(pk__in=list(range(2500))).count() <= 10
    # JSON
    assert books.filter(data__in__word="w4").get().title == "Book 4"
    assert books.filter(data__n__gt=7).count() == 2
    assert books.filter(data__has_key="n").count() == 10


def test_changes_and_transactions(site: Any, books: Any) -> None:
    from django.db import IntegrityError, transaction

    authors = site.Author.objects
    authors.bulk_create([site.Author(name=f"bulk {n}") for n in range(5)])
    assert [authors.get_or_create(name="new")[1] for _ in range(2)] == [True, False]
    authors.update_or_create(name="new", defaults={"note": "changed"})
    assert authors.get(name="new").note == "changed"
    tag = site.Tag.objects.create(word="word")
    books.get(title="Book 1").tags.add(tag)
    assert books.filter(tags__word="word").count() == 1
    for book in (several := list(books.all()[:3])):
        book.sold = 50
    assert books.bulk_update(several, ["sold"]) == 3
    with transaction.atomic():
        authors.create(name="kept")
        with pytest.raises(IntegrityError), transaction.atomic():
            authors.create(name="undone")
            authors.create(name="kept")
        point = transaction.savepoint()
        authors.create(name="rolled back")
        transaction.savepoint_rollback(point)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        authors.create(name="lost")
        _ = 1 / 0
    assert authors.filter(name__in=["kept", "undone", "rolled back", "lost"]).count() == 1
    with transaction.atomic():
        assert books.select_for_update().get(title="Book 2").sold == 50
    with pytest.raises(IntegrityError, match="sold_not_negative"), transaction.atomic():
        books.update(sold=-1)


def test_admin_pages(site: Any, books: Any) -> None:
    from django.contrib.admin.models import LogEntry
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    at = "/admin/django_site"
    for page in ("book/", "book/?q=book&o=-3.1&p=2", "book/?active__exact=1&published__year=2026",
                 f"book/{books.first().pk}/change/"):  # fmt: skip
        assert client.get(f"{at}/{page}").status_code == 200, page
    client.post(f"{at}/author/add/", {"name": "by hand", "born": "1980-01-01", "note": ""})
    author = site.Author.objects.get(name="by hand")
    client.post(f"{at}/author/{author.pk}/change/", {"name": "by hand", "born": "", "note": "n"})
    delete = {"action": "delete_selected", "_selected_action": [author.pk], "post": "yes"}
    client.post(f"{at}/author/", delete)
    assert not site.Author.objects.filter(name="by hand").exists()
    assert [e.action_flag for e in LogEntry.objects.order_by("pk")] == [1, 2, 3]


def test_schema_changes(site: Any) -> None:
    from django.core.management import call_command
    from django.db import connection, migrations, models
    from django.db.migrations.state import ProjectState

    operations: list[Any] = [
        migrations.CreateModel("Thing", [
            ("id", models.BigAutoField(primary_key=True)),
            ("name", models.CharField(max_length=10)), ("n", models.IntegerField(null=True)),
        ]),
        migrations.AddField("Thing", "flag", models.BooleanField(default=False)),
        migrations.AddField("Thing", "five", models.IntegerField(db_default=5)),
        migrations.AlterField("Thing", "name", models.CharField(max_length=30, default="q")),
        migrations.AlterField("Thing", "name", models.CharField(max_length=30, unique=True)),
        migrations.AlterField("Thing", "n", models.BigIntegerField(default=1)),
        migrations.RenameField("Thing", "n", "Number"),
        migrations.AddIndex("Thing", models.Index(fields=["Number"], name="ix_number")),
        migrations.RenameIndex("Thing", old_name="ix_number", new_name="ix_renamed"),
        migrations.AddConstraint("Thing", models.CheckConstraint(
            condition=models.Q(Number__gt=0), name="number_positive")),
        migrations.AlterModelTable("Thing", "other_things"),
        migrations.RemoveField("Thing", "flag"),
    ]  # fmt: skip
    states = [ProjectState()]
    for operation in operations:
        state = states[-1].clone()
        operation.state_forwards("django_site", state)
        with connection.schema_editor() as editor:
            operation.database_forwards("django_site", editor, states[-1], state)
        states.append(state)
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, "other_things")
        constraints = connection.introspection.get_constraints(cursor, "other_things")
    assert [column.name for column in described] == ["id", "name", "Number", "five"]
    assert {"ix_renamed", "number_positive"} <= set(constraints)
    for operation, before, after in reversed(
        list(zip(operations, states, states[1:], strict=False))
    ):
        with connection.schema_editor() as editor:
            operation.database_backwards("django_site", editor, after, before)
    assert "other_things" not in connection.introspection.table_names()
    written = StringIO()
    call_command("inspectdb", "django_site_book", stdout=written)
    assert "author = models.ForeignKey" in written.getvalue()
