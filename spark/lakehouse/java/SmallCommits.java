package lakehouse;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.AvroConversionUtils;
import org.apache.hudi.DataSourceUtils;
import org.apache.hudi.HoodieSchemaConversionUtils;
import org.apache.hudi.client.HoodieJavaWriteClient;
import org.apache.hudi.client.WriteStatus;
import org.apache.hudi.client.common.HoodieJavaEngineContext;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.common.model.HoodieAvroIndexedRecord;
import org.apache.hudi.common.model.HoodieCommitMetadata;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieRecordLocation;
import org.apache.hudi.common.model.HoodieTableType;
import org.apache.hudi.common.model.WriteOperationType;
import org.apache.hudi.common.schema.HoodieSchema;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.TableSchemaResolver;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.hadoop.fs.HadoopFSUtils;
import org.apache.hudi.index.bucket.HoodieSimpleBucketIndex;
import org.apache.hudi.keygen.BaseKeyGenerator;
import org.apache.hudi.keygen.factory.HoodieSparkKeyGeneratorFactory;
import org.apache.hudi.storage.StoragePath;
import org.apache.hudi.table.HoodieTable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import scala.Function1;

/**
 * Commits of few rows to one table, without Spark jobs but the one that makes the rows.
 *
 * <p>Hudi's writer without an engine writes the files that Spark's would write. What it knows of the
 * table is kept from commit to commit; the timeline alone is listed for each. A table whose columns
 * change, or whose file groups somebody else replaces, needs another one of these.
 */
public final class SmallCommits implements AutoCloseable {
    private static final long MOST_BYTES = 8 << 20;
    private static final ExecutorService MARKERS =
            Executors.newSingleThreadExecutor(
                    task -> {
                        Thread thread = new Thread(task, "lakehouse-markers");
                        thread.setDaemon(true);
                        return thread;
                    });

    private final Client client;
    private final HoodieWriteConfig config;
    private final HoodieSchema schema;
    private final StructType columns;
    private final BaseKeyGenerator keys;
    private final HoodieSimpleBucketIndex index;
    private final String ordering;
    private final Map<String, Map<Integer, HoodieRecordLocation>> buckets = new HashMap<>();

    private Function1<InternalRow, GenericRecord> converter;
    private StructType convertedFrom;

    /**
     * Opens a table that has had a commit.
     *
     * @param options what Spark's writer is told, with the table's type as {@code hoodie.table.type}
     * @param ordering the column of the order among rows with one key
     */
    public SmallCommits(
            Configuration hadoop,
            String path,
            String table,
            Map<String, String> options,
            String ordering)
            throws Exception {
        HoodieEngineContext engine = new HoodieJavaEngineContext(HadoopFSUtils.getStorageConf(hadoop));
        HoodieTableMetaClient meta =
                HoodieTableMetaClient.builder()
                        .setConf(engine.getStorageConf())
                        .setBasePath(path)
                        .setLoadActiveTimelineOnLoad(true)
                        .build();
        this.schema = new TableSchemaResolver(meta).getTableSchema(false);
        this.columns = HoodieSchemaConversionUtils.convertHoodieSchemaToStructType(schema).asNullable();
        Map<String, String> own = new HashMap<>(options);
        // The writer without an engine has no bucket index by name, and is told where each row goes.
        own.put("hoodie.index.class", HoodieSimpleBucketIndex.class.getName());
        this.config = DataSourceUtils.createHoodieConfig(schema.toString(), path, table, own);
        this.keys =
                (BaseKeyGenerator) HoodieSparkKeyGeneratorFactory.createKeyGenerator(config.getProps());
        this.index = new HoodieSimpleBucketIndex(config);
        this.ordering = ordering;
        this.client = new Client(engine, config, meta);
    }

    /** Whether rows of these columns are what the table has. */
    public boolean takes(StructType rows) {
        return rows.asNullable().equals(columns);
    }

    /**
     * Computes rows, and returns what is to be committed: of several with one key the last in order.
     *
     * <p>Null where one goes into a bucket that has no file yet: Spark's writer makes those. Null,
     * too, where they are so large that Spark, which spills, is to write them.
     */
    public List<HoodieRecord<?>> records(Dataset<Row> rows) {
        Function1<InternalRow, GenericRecord> convert = converter(rows.schema());
        Map<HoodieKey, HoodieRecord<?>> byKey = new LinkedHashMap<>();
        InternalRow[] collected = rows.queryExecution().executedPlan().executeCollect();
        if (bytes(collected) > MOST_BYTES) {
            return null;
        }
        for (InternalRow row : collected) {
            GenericRecord value = convert.apply(row);
            long order = (Long) value.get(ordering);
            HoodieKey key = keys.getKey(value);
            HoodieRecord<?> before = byKey.get(key);
            if (before == null || orderOf(before) <= order) {
                byKey.put(key, new HoodieAvroIndexedRecord(key, value, order));
            }
        }
        for (HoodieRecord<?> record : byKey.values()) {
            HoodieRecordLocation location = location(record.getKey());
            if (location == null) {
                return null;
            }
            record.unseal();
            record.setCurrentLocation(location);
            record.seal();
        }
        return new ArrayList<>(byKey.values());
    }

    /** Commits what {@link #records} has returned, with notes. After a failure, begin with another. */
    @SuppressWarnings({"rawtypes", "unchecked"})
    public void commit(List<HoodieRecord<?>> records, Map<String, String> notes) {
        client.meta.reloadActiveTimeline();
        String instant = client.startCommit();
        if (config.getTableType() == HoodieTableType.MERGE_ON_READ) {
            client.transitionInflight(instant);
        }
        List<WriteStatus> written = client.upsertPreppedRecords((List) records, instant);
        for (WriteStatus status : written) {
            if (status.hasErrors()) {
                throw new IllegalStateException(
                        "Hudi could not write to " + status.getPartitionPath(), status.getGlobalError());
            }
        }
        client.setOperationType(WriteOperationType.UPSERT);
        if (!client.commit(instant, written, Option.of(notes))) {
            throw new IllegalStateException("Hudi did not complete the commit " + instant);
        }
    }

    @Override
    public void close() {
        client.close();
    }

    private static long bytes(InternalRow[] rows) {
        long sum = 0;
        for (InternalRow row : rows) {
            sum += ((UnsafeRow) row).getSizeInBytes();
        }
        return sum;
    }

    private long orderOf(HoodieRecord<?> record) {
        return (Long) ((GenericRecord) record.getData()).get(ordering);
    }

    private Function1<InternalRow, GenericRecord> converter(StructType from) {
        if (!from.equals(convertedFrom)) {
            converter = AvroConversionUtils.createInternalRowToAvroConverter(from, schema, false);
            convertedFrom = from;
        }
        return converter;
    }

    private HoodieRecordLocation location(HoodieKey key) {
        Map<Integer, HoodieRecordLocation> known =
                buckets.computeIfAbsent(
                        key.getPartitionPath(),
                        partition ->
                                index.loadBucketIdToFileIdMappingForPartition(
                                        client.table(), partition));
        return known.get(index.getBucketID(key, config.getBucketIndexNumBuckets()));
    }

    /** Hudi's writer, with what it knows of the table kept, and markers deleted behind the commit. */
    @SuppressWarnings({"rawtypes", "serial", "unchecked"})
    private static final class Client extends HoodieJavaWriteClient<Object> {
        private final HoodieTableMetaClient meta;

        Client(HoodieEngineContext engine, HoodieWriteConfig config, HoodieTableMetaClient meta) {
            super(engine, config);
            this.meta = meta;
        }

        HoodieTable table() {
            return createTable(config, meta);
        }

        @Override
        protected HoodieTableMetaClient createMetaClient(boolean loadsTimeline) {
            return meta;
        }

        @Override
        protected HoodieTable createTable(HoodieWriteConfig options) {
            return createTable(options, meta);
        }

        @Override
        protected void postCommit(
                HoodieTable table,
                HoodieCommitMetadata metadata,
                String instant,
                Option<Map<String, String>> notes) {
            StoragePath markers = new StoragePath(meta.getMarkerFolderPath(instant));
            MARKERS.execute(
                    () -> {
                        try {
                            table.getStorage().deleteDirectory(markers);
                        } catch (Exception kept) {
                            // They are of a completed commit: nobody asks for them.
                        }
                    });
        }
    }
}
