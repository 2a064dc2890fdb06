package labctl;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.FileConfigProvider;

/**
 * Kafka's FileConfigProvider, confined to the folder that its parameter {@code folder} names.
 *
 * <p>Kafka's own {@code allowed.paths} takes absolute references only, compares paths as text and
 * follows symbolic links. References such as {@code ${secretManager:demo/mysql:password}} are
 * relative, because they name a secret on AWS, too.
 */
public final class SecretsFolder extends FileConfigProvider {
    private Path folder;

    @Override
    public void configure(Map<String, ?> configs) {
        super.configure(Map.of());
        Object given = configs.get("folder");
        if (given == null) {
            throw new ConfigException("The provider's folder is not set");
        }
        folder = real(Path.of(given.toString()));
    }

    @Override
    public ConfigData get(String path) {
        return super.get(inside(path));
    }

    @Override
    public ConfigData get(String path, Set<String> keys) {
        return super.get(inside(path), keys);
    }

    private String inside(String path) {
        if (path == null || path.isEmpty()) {
            return path; // Kafka's provider finds nothing there.
        }
        Path real = real(Path.of(path));
        if (!real.startsWith(folder)) {
            throw new ConfigException(path + " is not one of the lab's secrets");
        }
        return real.toString();
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            // The same words for what is missing and what is forbidden elsewhere tell nothing of it.
            throw new ConfigException(path + " is not one of the lab's secrets");
        }
    }
}
