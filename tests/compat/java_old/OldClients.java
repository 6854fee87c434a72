import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Runs a program with each of several versions of Apache Kafka's clients, all in one JVM: a class loader of its own
 * for each, and the source compiled against that version. Arguments: folder for classes, bootstrap address, topic,
 * then VERSION=JARS=SOURCE... Prints a line for each version: "VERSION ok", or "VERSION failed" and why.
 */
public final class OldClients {
    public static void main(String[] args) throws Exception {
        for (String what : Arrays.asList(args).subList(3, args.length)) {
            String[] parts = what.split("=");
            String told = "ok";
            try {
                run(Path.of(args[0], parts[0]), new File(parts[1]), parts[2].split(","), args[1], args[2], parts[0]);
            } catch (InvocationTargetException error) {
                told = "failed " + text(error.getCause());
            } catch (Throwable error) {
                told = "failed " + text(error);
            }
            System.out.println(parts[0] + " " + told.replace('\n', ' '));
            System.out.flush();
        }
        System.exit(0); // whatever threads an old client left
    }

    private static void run(
            Path classes, File jars, String[] sources, String bootstrap, String topic, String version) throws Exception {
        List<URL> urls = new ArrayList<>();
        List<String> paths = new ArrayList<>();
        for (File jar : jars.listFiles()) {
            urls.add(jar.toURI().toURL());
            paths.add(jar.getPath());
        }
        Files.createDirectories(classes);
        urls.add(classes.toUri().toURL());
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> command = new ArrayList<>(List.of(
                "-nowarn", "-proc:none", "-XDignore.symbol.file", "-cp", String.join(File.pathSeparator, paths), "-d", classes.toString()));
        command.addAll(Arrays.asList(sources));
        java.io.ByteArrayOutputStream said = new java.io.ByteArrayOutputStream();
        if (compiler.run(null, said, said, command.toArray(new String[0])) != 0) {
            throw new IllegalStateException("does not compile: " + said);
        }
        URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        for (String source : sources) {
            String name = new File(source).getName().replace(".java", "");
            loader.loadClass(name)
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) new String[] {bootstrap, topic, version});
        }
    }

    private static String text(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
