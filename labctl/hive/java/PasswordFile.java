package labctl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import javax.security.sasl.AuthenticationException;
import org.apache.hive.service.auth.PasswdAuthenticationProvider;

/**
 * Lets one user into the Thrift server, with the password in a file.
 *
 * <p>Of itself the server lets anyone in, and SQL there can do what this process can.
 */
public final class PasswordFile implements PasswdAuthenticationProvider {
    /** System properties: the user's name, and the file. */
    private static final String USER = "labctl.thriftserver.user";

    private static final String FILE = "labctl.thriftserver.password-file";

    @Override
    public void Authenticate(String user, String password) throws AuthenticationException {
        boolean known = System.getProperty(USER).equals(user);
        if (!known || password == null || !MessageDigest.isEqual(expected(), bytes(password))) {
            throw new AuthenticationException("The user or the password is wrong");
        }
    }

    private static byte[] expected() throws AuthenticationException {
        try {
            return bytes(Files.readString(Path.of(System.getProperty(FILE))).strip());
        } catch (IOException e) {
            throw new AuthenticationException("The password cannot be read", e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
