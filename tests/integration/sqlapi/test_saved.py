"""Named queries, prepared statements, workgroups, catalogs and tags, by boto3."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from tests.integration.sqlapi.conftest import OUTPUT, Athena, Endpoint


@pytest.fixture
def client(endpoint: Endpoint) -> Any:
    return endpoint.client("athena")


def test_named_queries(client: Any) -> None:
    token = uuid4().hex * 2
    given = {
        "Name": "likes", "Database": "tickit", "QueryString": "SELECT 1", "Description": "d",
        "ClientRequestToken": token,
    }  # fmt: skip
    id_ = client.create_named_query(**given)["NamedQueryId"]
    assert client.create_named_query(**given)["NamedQueryId"] == id_
    client.update_named_query(NamedQueryId=id_, Name="liked", QueryString="SELECT 2")
    got = client.get_named_query(NamedQueryId=id_)["NamedQuery"]
    assert (got["Name"], got["QueryString"], got["WorkGroup"]) == ("liked", "SELECT 2", "primary")
    assert id_ in client.list_named_queries()["NamedQueryIds"]
    batch = client.batch_get_named_query(NamedQueryIds=[id_, "none"])
    assert len(batch["NamedQueries"]) == len(batch["UnprocessedNamedQueryIds"]) == 1
    client.delete_named_query(NamedQueryId=id_)
    with pytest.raises(ClientError, match="is not found"):
        client.get_named_query(NamedQueryId=id_)


def test_prepared_statements(client: Any) -> None:
    name = f"p_{uuid4().hex[:8]}"
    one = {"StatementName": name, "WorkGroup": "primary"}
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.get_prepared_statement(**one)
    client.create_prepared_statement(**one, QueryStatement="SELECT ?")
    with pytest.raises(ClientError, match="already exists"):
        client.create_prepared_statement(**one, QueryStatement="SELECT ?")
    client.update_prepared_statement(**one, QueryStatement="SELECT ?, 1")
    got = client.get_prepared_statement(**one)["PreparedStatement"]
    assert got["QueryStatement"] == "SELECT ?, 1"
    names = [
        s["StatementName"]
        for s in client.list_prepared_statements(WorkGroup="primary")["PreparedStatements"]
    ]
    assert name in names
    batch = client.batch_get_prepared_statement(
        PreparedStatementNames=[name, "none"], WorkGroup="primary"
    )
    assert len(batch["PreparedStatements"]) == 1
    assert len(batch["UnprocessedPreparedStatementNames"]) == 1
    client.delete_prepared_statement(**one)


def test_workgroups_and_their_limits(client: Any) -> None:
    name = f"w_{uuid4().hex[:8]}"
    client.create_work_group(
        Name=name,
        Configuration={
            "ResultConfiguration": {"OutputLocation": f"{OUTPUT}{name}/"},
            "EnforceWorkGroupConfiguration": True,
            "BytesScannedCutoffPerQuery": 10_000_000,
        },
        Tags=[{"Key": "team", "Value": "data"}],
    )
    athena = Athena(client)
    assert athena.rows("SELECT count(*) FROM sale", WorkGroup=name) == [["3"]]
    got = client.get_work_group(WorkGroup=name)["WorkGroup"]
    assert got["Configuration"]["BytesScannedCutoffPerQuery"] == 10_000_000
    arn = f"arn:aws:athena:us-east-1:000000000000:workgroup/{name}"
    assert client.list_tags_for_resource(ResourceARN=arn)["Tags"] == [
        {"Key": "team", "Value": "data"}
    ]
    client.untag_resource(ResourceARN=arn, TagKeys=["team"])
    client.update_work_group(WorkGroup=name, State="DISABLED")
    with pytest.raises(ClientError, match="is disabled"):
        athena.start("SELECT 1", WorkGroup=name)
    with pytest.raises(ClientError, match="is not empty"):
        client.delete_work_group(WorkGroup=name)
    client.delete_work_group(WorkGroup=name, RecursiveDeleteOption=True)
    assert name not in [w["Name"] for w in client.list_work_groups()["WorkGroups"]]
    with pytest.raises(ClientError, match="cannot be deleted"):
        client.delete_work_group(WorkGroup="primary")


def test_metadata(client: Any) -> None:
    catalog = "AwsDataCatalog"
    databases = client.list_databases(CatalogName=catalog)["DatabaseList"]
    assert {"default", "moma", "tickit"} <= {d["Name"] for d in databases}
    table = client.get_table_metadata(CatalogName=catalog, DatabaseName="tickit", TableName="sale")[
        "TableMetadata"
    ]
    assert {"Name": "price", "Type": "decimal(8,2)"} in table["Columns"]
    listed = client.list_table_metadata(
        CatalogName=catalog, DatabaseName="moma", Expression="_r[ot]$"
    )["TableMetadataList"]
    assert [t["Name"] for t in listed] == ["artists_ro", "artists_rt"]
    with pytest.raises(client.exceptions.MetadataException):
        client.get_table_metadata(CatalogName=catalog, DatabaseName="moma", TableName="none")
    assert client.get_data_catalog(Name=catalog)["DataCatalog"]["Type"] == "GLUE"
    assert client.list_data_catalogs()["DataCatalogsSummary"][0]["CatalogName"] == catalog
    assert client.list_engine_versions()["EngineVersions"]
