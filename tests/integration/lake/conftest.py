"""One Spark session for every test of tables and their readers, and an object store."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from pydantic import SecretStr
from pyspark.sql import SparkSession
from tenacity import Retrying, stop_after_delay, wait_fixed

from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import ObjectStore
from labctl.lake import Lake, LakeStorage
from labctl.lake.objectstore import s3_client
from labctl.lake.spark_queries import SparkEngine
from tests.ports import free_port


@pytest.fixture(scope="package")
def artifacts() -> ArtifactStore:
    store = ArtifactStore()
    store.fetch(["spark-packages", "jre"])
    return store


@pytest.fixture(scope="package")
def engine(artifacts: ArtifactStore) -> SparkEngine:
    return SparkEngine(jars=artifacts.spark_jars(), java=artifacts.java())


@pytest.fixture(scope="package")
def bucket(
    artifacts: ArtifactStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ObjectStore]:
    artifacts.fetch(["minio"])
    address = f"127.0.0.1:{free_port()}"
    key, secret = "lake", "lake-of-the-test"
    folder = str(tmp_path_factory.mktemp("minio"))
    server = subprocess.Popen(
        [str(artifacts.minio()), "server", "--quiet", "--address", address, folder],
        env={
            "MINIO_ROOT_USER": key,
            "MINIO_ROOT_PASSWORD": secret,
            "MINIO_BROWSER": "off",
            "MINIO_UPDATE": "off",
            "HOME": folder,
        },
    )
    store = ObjectStore(
        endpoint_url=f"http://{address}",
        access_key=SecretStr(key),
        secret_key=SecretStr(secret),
        bucket="lake-test",
    )
    try:
        for attempt in Retrying(stop=stop_after_delay(240), wait=wait_fixed(0.2), reraise=True):
            with attempt:
                s3_client(store).create_bucket(Bucket=store.bucket)
        yield store
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture(scope="package")
def spark(
    engine: SparkEngine, bucket: ObjectStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    assert engine.java
    storage = LakeStorage.of(bucket)
    os.environ["JAVA_HOME"] = str(engine.java.resolve().parent.parent)
    builder = SparkSession.builder.config("spark.default.parallelism", "1")
    conf = engine.conf(tmp_path_factory.mktemp("spark")) | dict(storage.spark_conf)
    for key, value in conf.items():
        builder = builder.config(key, value)
    interrupted = signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch:
        for name, secret in storage.spark_env.items():
            patch.setenv(name, secret)
        session = builder.getOrCreate()
    # Spark's own handler outlives its session, and fails then. Other tests interrupt, too.
    signal.signal(signal.SIGINT, interrupted)
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="package")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return Lake(LakeStorage.local(tmp_path_factory.mktemp("lake")))
