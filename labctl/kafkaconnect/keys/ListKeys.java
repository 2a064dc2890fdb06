import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Lists the configuration keys of Kafka Connect's plugins, as JSON, from the plugins themselves.
 *
 * <p>Arguments: a folder of Kafka's jars, then a folder for each plugin. Run by `relist.py`.
 */
class ListKeys {
    static final String CONNECT = "org.apache.kafka.connect.";
    static final Map<String, Set<String>> CONNECTORS = new TreeMap<>();
    static final Map<String, Set<String>> PARTS = new TreeMap<>();
    static final Map<String, Set<String>> DRIVERS = new TreeMap<>();

    public static void main(String[] folders) throws Exception {
        List<Path> kafka = jars(folders[0]);
        URLClassLoader base = new URLClassLoader(urls(kafka), ClassLoader.getPlatformClassLoader());
        plugin(base, kafka);
        for (int i = 1; i < folders.length; i++) {
            List<Path> found = jars(folders[i]);
            URLClassLoader loader = new URLClassLoader(urls(found), base);
            // Defaults that are classes are looked up by it, as Connect has it.
            Thread.currentThread().setContextClassLoader(loader);
            plugin(loader, found);
        }
        Map<String, Set<String>> clients = new TreeMap<>();
        for (String client : List.of("Producer", "Consumer", "AdminClient")) {
            String name = "org.apache.kafka.clients." + (client.equals("AdminClient") ? "admin" : client.toLowerCase())
                    + "." + client + "Config";
            clients.put(client.equals("AdminClient") ? "admin" : client.toLowerCase(),
                    names(base.loadClass(name).getMethod("configDef").invoke(null)));
        }
        clients.put("topic", constants(base.loadClass("org.apache.kafka.common.config.TopicConfig"), ""));
        Map<String, Set<String>> framework = new TreeMap<>();
        for (String side : List.of("Source", "Sink")) {
            framework.put(side.toLowerCase(), names(base.loadClass(CONNECT + "runtime." + side + "ConnectorConfig")
                    .getMethod("configDef").invoke(null)));
        }
        System.out.println("{\"clients\": " + json(clients) + ",\n\"connectors\": " + json(CONNECTORS)
                + ",\n\"drivers\": " + json(DRIVERS) + ",\n\"framework\": " + json(framework)
                + ",\n\"parts\": " + json(PARTS) + "}");
    }

    static void plugin(ClassLoader loader, List<Path> jars) throws Exception {
        Class<?> connector = loader.loadClass(CONNECT + "source.SourceConnector");
        List<Class<?>> kinds = new ArrayList<>();
        for (String kind : List.of("transforms.Transformation", "transforms.predicates.Predicate", "storage.Converter",
                "storage.HeaderConverter")) {
            kinds.add(loader.loadClass(CONNECT + kind));
        }
        Set<String> fields = new TreeSet<>();
        Set<String> apicurio = new TreeSet<>();
        List<Class<?>> connectors = new ArrayList<>();
        List<Class<?>> converters = new ArrayList<>();
        Set<String> driver = new TreeSet<>();
        for (Path jar : jars) {
            for (String name : classes(jar)) {
                if (name.matches(".*(\\.mirror\\.|\\.runtime\\.|\\.file\\.|\\.tools\\.).*")) {
                    continue;
                }
                Class<?> found;
                try {
                    found = Class.forName(name, false, loader);
                    if (name.startsWith("io.debezium.")) {
                        fields.addAll(debezium(found));
                    }
                    if (name.startsWith("io.apicurio.") && name.endsWith("Config")) {
                        apicurio.addAll(constants(found, "apicurio."));
                    }
                    if (found.isInterface() || Modifier.isAbstract(found.getModifiers())
                            || !Modifier.isPublic(found.getModifiers())) {
                        continue;
                    }
                    if (connector.isAssignableFrom(found)) {
                        connectors.add(found);
                    } else if (kinds.stream().anyMatch(k -> k.isAssignableFrom(found))) {
                        if (name.startsWith("io.apicurio.")) {
                            converters.add(found);
                        } else {
                            PARTS.put(name, part(found));
                        }
                    } else if (Driver.class.isAssignableFrom(found)) {
                        driver.addAll(properties((Driver) found.getDeclaredConstructor().newInstance()));
                    }
                } catch (LinkageError | ReflectiveOperationException missing) {
                    continue; // a class for something that this plugin does not bring
                }
            }
        }
        for (Class<?> one : connectors) {
            Set<String> keys = names(config(one));
            keys.addAll(fields);
            CONNECTORS.put(one.getName(), keys);
            DRIVERS.put(one.getName(), driver);
        }
        for (Class<?> one : converters) {
            PARTS.put(one.getName(), apicurio);
        }
    }

    /** What `config()` lists, and what stands as fields or constants beside it. */
    static Set<String> part(Class<?> type) throws ReflectiveOperationException {
        Set<String> found = names(config(type));
        for (Class<?> one = type; one != null; one = one.getSuperclass()) {
            found.addAll(fields(one));
        }
        for (String beside : List.of("Config", "ConfigDefinition")) {
            try {
                Class<?> one = Class.forName(type.getName() + beside, true, type.getClassLoader());
                found.addAll(fields(one));
                found.addAll(constants(one, ""));
            } catch (ClassNotFoundException none) {
                continue;
            }
        }
        return found;
    }

    /** Keys that a connector's classes declare, some of which its `config()` does not list. */
    static Set<String> debezium(Class<?> type) throws ReflectiveOperationException {
        if (type.getName().matches(".*\\.(transforms|processors|serde|jdbc)\\..*|.*JdbcConfiguration|.*\\.RelationalDatabaseConnectorConfig")) {
            return Set.of(); // other parts' keys; of the shared ones `config()` lists those that apply
        }
        return fields(type);
    }

    static Set<String> fields(Class<?> type) throws ReflectiveOperationException {
        Set<String> found = new TreeSet<>();
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers())
                    && field.getType().getName().equals("io.debezium.config.Field")) {
                field.setAccessible(true); // some are private
                Object value = field.get(null);
                if (value != null) {
                    found.add((String) value.getClass().getMethod("name").invoke(value));
                }
            }
        }
        return found;
    }

    /** Public text constants that are keys: those that begin with `prefix`, or are named so. */
    static Set<String> constants(Class<?> type, String prefix) throws ReflectiveOperationException {
        Set<String> found = new TreeSet<>();
        for (Field field : type.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                String value = (String) field.get(null);
                boolean key = prefix.isEmpty() ? field.getName().endsWith("_CONFIG") : true;
                if (key && value != null && value.startsWith(prefix) && value.matches("[a-zA-Z0-9.-]+")) {
                    found.add(value);
                }
            }
        }
        return found;
    }

    static Set<String> properties(Driver driver) {
        Set<String> found = new TreeSet<>();
        for (String url : List.of("jdbc:postgresql://h/d", "jdbc:mysql://h/d", "jdbc:sqlserver://h")) {
            try {
                for (DriverPropertyInfo info : driver.getPropertyInfo(url, new Properties())) {
                    found.add(info.name);
                }
            } catch (Exception notItsUrl) {
                continue;
            }
        }
        return found;
    }

    static Object config(Class<?> type) throws ReflectiveOperationException {
        Object made = type.getDeclaredConstructor().newInstance();
        return type.getMethod("config").invoke(made);
    }

    @SuppressWarnings("unchecked")
    static Set<String> names(Object definition) throws ReflectiveOperationException {
        Set<String> found = new TreeSet<>();
        if (definition != null) {
            Method names = definition.getClass().getMethod("names");
            found.addAll((Collection<String>) names.invoke(definition));
        }
        return found;
    }

    static List<Path> jars(String folder) throws Exception {
        try (Stream<Path> paths = Files.walk(Path.of(folder), FileVisitOption.FOLLOW_LINKS)) {
            return paths.filter(path -> path.toString().endsWith(".jar")).sorted().collect(Collectors.toList());
        }
    }

    static URL[] urls(List<Path> jars) throws Exception {
        URL[] urls = new URL[jars.size()];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = jars.get(i).toUri().toURL();
        }
        return urls;
    }

    static List<String> classes(Path jar) throws Exception {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class"))
                    .filter(name -> !name.startsWith("META-INF")
                            && name.matches("(org/apache/kafka/connect|io/debezium|io/apicurio|org/postgresql|com/mysql"
                                    + "|com/microsoft)/.*"))
                    .map(name -> name.substring(0, name.length() - 6).replace('/', '.')).collect(Collectors.toList());
        }
    }

    static String json(Map<String, Set<String>> keys) {
        return keys.entrySet().stream()
                .map(e -> "\"" + e.getKey() + "\": [" + e.getValue().stream()
                        .map(v -> "\"" + v.replace("\\", "\\\\") + "\"").collect(Collectors.joining(", ")) + "]")
                .collect(Collectors.joining(",\n", "{\n", "\n}"));
    }
}
