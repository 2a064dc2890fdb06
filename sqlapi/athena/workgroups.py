"""Workgroups, data catalogs, engine versions and tags."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from sqlapi.catalog.definitions import page, seconds, with_token
from sqlapi.protocol.http_app import Members, Operations
from sqlapi.protocol.protocol_errors import ApiError, invalid_request
from sqlapi.settings import Settings
from sqlapi.storage import LocationError, Storage
from sqlapi.store import Row, Store

__all__ = ["ENGINE", "Workgroups"]

ENGINE = {
    "SelectedEngineVersion": "AUTO", "EffectiveEngineVersion": "Athena engine version 3",
}  # fmt: skip
_DEFAULTS = {
    "EnforceWorkGroupConfiguration": False, "PublishCloudWatchMetricsEnabled": False,
    "RequesterPaysEnabled": False,
}  # fmt: skip
_PAGE = 50


class Workgroups:
    """The operations on workgroups, one per method. The workgroup `primary` always exists."""

    def __init__(self, settings: Settings, store: Store, storage: Storage) -> None:
        """Create `primary`. Raises LocationError if the settings' results folder is not valid."""
        storage.check(settings.output)
        self._settings = settings
        self._store = store
        self._storage = storage
        primary = {"ResultConfiguration": {"OutputLocation": settings.output}}
        self._store.run(
            "INSERT INTO workgroup (name, definition) VALUES ('primary', %s)"
            " ON CONFLICT DO NOTHING",
            [Jsonb({"State": "ENABLED", "Configuration": _DEFAULTS | primary})],
        )

    def operations(self) -> Operations:
        return {
            "CreateWorkGroup": self.create,
            "GetWorkGroup": self.get,
            "ListWorkGroups": self.list,
            "UpdateWorkGroup": self.update,
            "DeleteWorkGroup": self.delete,
            "ListEngineVersions": self.engine_versions,
            "GetDataCatalog": self.get_catalog,
            "ListDataCatalogs": self.list_catalogs,
            "TagResource": self.tag,
            "UntagResource": self.untag,
            "ListTagsForResource": self.tags,
        }

    def row(self, name: str) -> Row:
        """Return a workgroup. Raises ApiError if there is none of this name."""
        row = self._store.row("SELECT * FROM workgroup WHERE name = %s", [name])
        if row is None:
            raise invalid_request(f"WorkGroup {name} is not found.")
        return row

    def enabled(self, name: str) -> Members:
        """Return Name and Configuration of a workgroup. Raises ApiError if it takes no queries."""
        definition = self.row(name)["definition"]
        if definition["State"] != "ENABLED":
            raise invalid_request(f"WorkGroup {name} is disabled.")
        return {"Name": name, "Configuration": definition["Configuration"]}

    def _check_output(self, result: Members | None) -> None:
        location = (result or {}).get("OutputLocation")
        try:
            if location:
                self._storage.check(location)
        except LocationError as error:
            raise invalid_request(str(error)) from None

    def create(self, given: Members) -> Members:
        self._check_output((given.get("Configuration") or {}).get("ResultConfiguration"))
        definition = {
            "State": "ENABLED",
            "Configuration": _DEFAULTS | (given.get("Configuration") or {}),
            "Description": given.get("Description", ""),
        }
        made = self._store.run(
            "INSERT INTO workgroup (name, definition) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [given["Name"], Jsonb(definition)],
        )
        if not made:
            raise invalid_request("WorkGroup is already created")
        if given.get("Tags"):
            self.tag({"ResourceARN": self._arn(given["Name"]), "Tags": given["Tags"]})
        return {}

    def get(self, given: Members) -> Members:
        row = self.row(given["WorkGroup"])
        shown = {
            "Name": row["name"],
            **row["definition"],
            "CreationTime": seconds(row["created"]),
        }
        shown["Configuration"] = {**shown["Configuration"], "EngineVersion": ENGINE}
        return {"WorkGroup": shown}

    def list(self, given: Members) -> Members:
        rows = self._store.rows("SELECT * FROM workgroup ORDER BY name")
        shown = [
            {
                "Name": row["name"], "State": row["definition"]["State"],
                "Description": row["definition"].get("Description", ""),
                "CreationTime": seconds(row["created"]), "EngineVersion": ENGINE,
            }
            for row in rows
        ]  # fmt: skip
        items, token = page(shown, given.get("NextToken"), given.get("MaxResults", _PAGE))
        return with_token({"WorkGroups": items}, token)

    def update(self, given: Members) -> Members:
        updates = given.get("ConfigurationUpdates") or {}
        self._check_output(updates.get("ResultConfigurationUpdates"))
        definition = self.row(given["WorkGroup"])["definition"]
        for key in ("State", "Description"):
            if key in given:
                definition[key] = given[key]
        configuration = definition["Configuration"]
        for key, value in updates.items():
            if key == "ResultConfigurationUpdates":
                result = configuration.setdefault("ResultConfiguration", {})
                if value.get("RemoveOutputLocation"):
                    result.pop("OutputLocation", None)
                if "OutputLocation" in value:
                    result["OutputLocation"] = value["OutputLocation"]
            elif key == "RemoveBytesScannedCutoffPerQuery":
                configuration.pop("BytesScannedCutoffPerQuery", None)
            else:
                configuration[key] = value
        self._store.run(
            "UPDATE workgroup SET definition = %s WHERE name = %s",
            [Jsonb(definition), given["WorkGroup"]],
        )
        return {}

    def delete(self, given: Members) -> Members:
        name = given["WorkGroup"]
        self.row(name)
        if name == "primary":
            raise invalid_request("WorkGroup primary cannot be deleted")
        kept = self._store.row(
            "SELECT 1 AS one FROM named_query WHERE workgroup = %(n)s"
            " UNION SELECT 1 FROM prepared_statement WHERE workgroup = %(n)s"
            " UNION SELECT 1 FROM execution WHERE workgroup = %(n)s",
            {"n": name},
        )
        if kept and not given.get("RecursiveDeleteOption"):
            raise invalid_request(f"WorkGroup {name} is not empty")
        self._store.run("DELETE FROM execution WHERE workgroup = %s", [name])
        self._store.run("DELETE FROM workgroup WHERE name = %s", [name])
        return {}

    def engine_versions(self, given: Members) -> Members:
        versions = [ENGINE, {**ENGINE, "SelectedEngineVersion": ENGINE["EffectiveEngineVersion"]}]
        return {"EngineVersions": versions}

    # catalogs

    def get_catalog(self, given: Members) -> Members:
        name = self._settings.catalog
        if given["Name"].lower() != name.lower():
            raise invalid_request(f"Data catalog {given['Name']} was not found")
        parameters = {"catalog-id": self._settings.account}
        return {"DataCatalog": {"Name": name, "Type": "GLUE", "Parameters": parameters}}

    def list_catalogs(self, given: Members) -> Members:
        return {"DataCatalogsSummary": [{"CatalogName": self._settings.catalog, "Type": "GLUE"}]}

    # tags

    def _arn(self, name: str) -> str:
        return self._settings.arn("athena", f"workgroup/{name}")

    def _check(self, arn: str) -> None:
        start = self._arn("")
        if not arn.startswith(start):
            raise ApiError(
                "ResourceNotFoundException", f"Resource {arn} was not found.", ResourceName=arn
            )
        try:
            self.row(arn.removeprefix(start))
        except ApiError:
            raise ApiError(
                "ResourceNotFoundException", f"Resource {arn} was not found.", ResourceName=arn
            ) from None

    def tag(self, given: Members) -> Members:
        arn = given["ResourceARN"]
        self._check(arn)
        for tag in given["Tags"]:
            self._store.run(
                "INSERT INTO tag VALUES (%s, %s, %s)"
                " ON CONFLICT (arn, key) DO UPDATE SET value = excluded.value",
                [arn, tag.get("Key", ""), tag.get("Value", "")],
            )
        return {}

    def untag(self, given: Members) -> Members:
        self._check(given["ResourceARN"])
        self._store.run(
            "DELETE FROM tag WHERE arn = %s AND key = ANY(%s)",
            [given["ResourceARN"], given["TagKeys"]],
        )
        return {}

    def tags(self, given: Members) -> Members:
        self._check(given["ResourceARN"])
        rows = self._store.rows(
            "SELECT key, value FROM tag WHERE arn = %s ORDER BY key", [given["ResourceARN"]]
        )
        return {"Tags": [{"Key": row["key"], "Value": row["value"]} for row in rows]}
