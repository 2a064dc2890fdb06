package lakehouse;

import java.util.List;
import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.keygen.BuiltinKeyGenerator;

/**
 * The keys of a table, one text for each; its partitions are another's.
 *
 * <p>Spark's rows become Avro records first, by the class that this one extends: so a key has one
 * text, whichever way Hudi asks for it.
 */
final class DistinctKeys extends BuiltinKeyGenerator {
    private static final long serialVersionUID = 1L;
    private final boolean isAlone;

    /** {@code isAlone}: a single column's value is the key, without the column's name. */
    DistinctKeys(TypedProperties properties, List<String> columns, boolean isAlone) {
        super(properties);
        this.recordKeyFields = columns;
        this.partitionPathFields = List.of();
        this.isAlone = isAlone && columns.size() == 1;
    }

    @Override
    public String getRecordKey(GenericRecord row) {
        Object[] values =
                KeyText.values(row, recordKeyFields, isConsistentLogicalTimestampEnabled());
        return isAlone
                ? KeyText.alone(recordKeyFields.get(0), values[0])
                : KeyText.named(recordKeyFields, values);
    }

    @Override
    public String getPartitionPath(GenericRecord row) {
        throw new UnsupportedOperationException();
    }
}
