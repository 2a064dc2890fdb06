package lakehouse;

import org.apache.avro.generic.GenericRecord;
import org.apache.hudi.common.config.TypedProperties;
import org.apache.hudi.keygen.NonpartitionedKeyGenerator;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Hudi's {@link NonpartitionedKeyGenerator}, but with a text of its own for each key: {@link KeyText}. */
public final class NonpartitionedKeys extends NonpartitionedKeyGenerator {
    private static final long serialVersionUID = 1L;
    private final DistinctKeys keys;

    /** Hudi makes it by this constructor. */
    public NonpartitionedKeys(TypedProperties properties) {
        super(properties);
        this.keys = new DistinctKeys(properties, getRecordKeyFieldNames(), true);
    }

    @Override
    public String getRecordKey(GenericRecord row) {
        return keys.getRecordKey(row);
    }

    @Override
    public String getRecordKey(Row row) {
        return keys.getRecordKey(row);
    }

    @Override
    public UTF8String getRecordKey(InternalRow row, StructType columns) {
        return keys.getRecordKey(row, columns);
    }
}
