package labctl;

import java.util.Map;
import org.apache.kafka.common.cache.Cache;
import org.apache.kafka.common.cache.LRUCache;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Takes the defaults of nullable columns out of a row's schema.
 *
 * <p>Converters read a row by {@link Struct#get}, which answers a column's default where the row has
 * NULL. Apicurio's has no setting to read it otherwise. A default says nothing about a row that is
 * there: the database has applied it already, wherever it was to be applied.
 */
public final class NullStaysNull<R extends ConnectRecord<R>> implements Transformation<R> {
    private static final int TABLES = 1000;
    private final Cache<Schema, Schema> withoutDefaults = new LRUCache<>(TABLES);

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof Struct row)) {
            return record;
        }
        Schema schema = withoutDefaults.get(row.schema());
        if (schema == null) {
            schema = withoutDefaults(row.schema());
            withoutDefaults.put(row.schema(), schema);
        }
        if (schema == row.schema()) {
            return record;
        }
        Struct copy = new Struct(schema);
        for (Field field : schema.fields()) {
            Object value = row.getWithoutDefault(field.name());
            if (value != null) {
                copy.put(field, value);
            }
        }
        return record.newRecord(
                record.topic(),
                record.kafkaPartition(),
                record.keySchema(),
                record.key(),
                schema,
                copy,
                record.timestamp());
    }

    private static Schema withoutDefaults(Schema row) {
        if (row.fields().stream().noneMatch(field -> replacesNull(field.schema()))) {
            return row;
        }
        SchemaBuilder builder =
                SchemaBuilder.struct().name(row.name()).version(row.version()).doc(row.doc());
        if (row.parameters() != null) {
            builder.parameters(row.parameters());
        }
        if (row.isOptional()) {
            builder.optional();
        }
        for (Field field : row.fields()) {
            Schema column = field.schema();
            builder.field(field.name(), replacesNull(column) ? NullableColumn.of(column) : column);
        }
        return builder.build();
    }

    private static boolean replacesNull(Schema column) {
        return column.isOptional() && column.defaultValue() != null;
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void close() {}
}
