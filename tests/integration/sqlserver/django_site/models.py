"""A small shop of books: one field of each kind that people use."""

from __future__ import annotations

from django.db import models


class Author(models.Model):  # type: ignore[misc]
    name = models.CharField(max_length=50, unique=True)
    born = models.DateField(null=True, blank=True)
    note = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return str(self.name)


class Tag(models.Model):  # type: ignore[misc]
    word = models.SlugField()


class Book(models.Model):  # type: ignore[misc]
    title = models.CharField(max_length=100, db_index=True)
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="books")
    price = models.DecimalField(max_digits=8, decimal_places=2, default=0)
    published = models.DateTimeField(null=True)
    sold = models.IntegerField(default=0)
    active = models.BooleanField(default=True)
    data = models.JSONField(default=dict)
    uid = models.UUIDField(null=True, unique=True)
    length = models.DurationField(null=True)
    raw = models.BinaryField(null=True)
    tags = models.ManyToManyField(Tag)

    class Meta:
        ordering = ("title",)
        unique_together = (("title", "author"),)
        indexes = (models.Index(fields=["-price", "title"], name="ix_price"),)
        constraints = (
            models.CheckConstraint(condition=models.Q(sold__gte=0), name="sold_not_negative"),
        )
