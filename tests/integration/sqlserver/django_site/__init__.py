"""A Django project with one application, for mssql-django against the stand-in."""
