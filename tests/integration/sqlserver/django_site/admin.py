"""The admin pages of the books."""

from __future__ import annotations

from django.contrib import admin

from tests.integration.sqlserver.django_site.models import Author, Book


@admin.register(Book)
class BookAdmin(admin.ModelAdmin):  # type: ignore[misc]
    list_display = ("title", "author", "price", "published", "active")
    list_filter = ("active", "author", "published")
    search_fields = ("title", "author__name")
    ordering = ("-price",)
    date_hierarchy = "published"
    list_per_page = 5


admin.site.register(Author)
