package labctl;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * What the metastore has for every file system: it keeps definitions, and touches no file.
 *
 * <p>Hive would make the folder of a table that it is told of, and remove it with the table. So
 * every folder is said to be there already, and nothing can be read, written or removed: neither
 * files of the lake, for which the metastore then needs no key, nor of this user.
 */
public final class NoFiles extends FileSystem {
    private URI uri;

    @Override
    public void initialize(URI name, Configuration settings) throws IOException {
        super.initialize(name, settings);
        String authority = name.getAuthority();
        uri = URI.create(name.getScheme() + "://" + (authority == null ? "/" : authority));
        setConf(settings);
    }

    @Override
    public URI getUri() {
        return uri;
    }

    @Override
    public FileStatus getFileStatus(Path path) {
        return new FileStatus(0, true, 1, 0, 0, makeQualified(path));
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) {
        return true;
    }

    @Override
    public FileStatus[] listStatus(Path path) {
        return new FileStatus[0];
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        throw refused("remove", path);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        throw refused("move", from);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        throw new FileNotFoundException("The metastore reads no files: " + path);
    }

    @Override
    public FSDataOutputStream create(
            Path path,
            FsPermission permission,
            boolean overwrite,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        throw refused("write", path);
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
            throws IOException {
        throw refused("write", path);
    }

    @Override
    public void setWorkingDirectory(Path path) {}

    @Override
    public Path getWorkingDirectory() {
        return new Path(uri.getScheme(), uri.getAuthority(), "/");
    }

    private static IOException refused(String what, Path path) {
        return new IOException("The metastore does not " + what + " files: " + path);
    }
}
