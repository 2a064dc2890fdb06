package labctl;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * Writes a TRUNCATE as a row of the table, before Debezium's ExtractNewRecordState drops it.
 *
 * <p>Every column of the row is NULL. Its field {@code __truncated}, which no other row has, says
 * that all rows of the table are gone that were there before. The columns stay, because what reads
 * a topic may name its files or folders after one of them.
 */
public final class TruncateStays<R extends ConnectRecord<R>> implements Transformation<R> {
    private static final String ENVELOPE = ".Envelope";
    private static final String TRUNCATE = "t";
    private static final String TRUE = "true";

    @Override
    public R apply(R record) {
        if (!(record.value() instanceof Struct change) || !isTruncate(change)) {
            return record;
        }
        Schema schema = emptyRow(change.schema().field("after").schema());
        Struct row = new Struct(schema);
        row.put("__op", TRUNCATE);
        row.put("__deleted", TRUE);
        row.put("__truncated", TRUE);
        return record.newRecord(
                record.topic(),
                record.kafkaPartition(),
                null,
                null,
                schema,
                row,
                record.timestamp());
    }

    private static boolean isTruncate(Struct change) {
        Schema schema = change.schema();
        return schema.name() != null
                && schema.name().endsWith(ENVELOPE)
                && schema.field("op") != null
                && schema.field("after") != null
                && TRUNCATE.equals(change.getString("op"));
    }

    private static Schema emptyRow(Schema row) {
        SchemaBuilder builder = SchemaBuilder.struct().name(row.name()).version(row.version());
        for (Field field : row.fields()) {
            builder.field(field.name(), NullableColumn.of(field.schema()));
        }
        for (String mark : new String[] {"__op", "__deleted", "__truncated"}) {
            builder.field(mark, Schema.OPTIONAL_STRING_SCHEMA);
        }
        return builder.build();
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
