import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs the main methods of Apache Kafka's tools in one JVM, several at a time, because a JVM takes a second to start.
 *
 * Reads a JSON object a line: {"run": id, "main": class, "args": [..], "stdin": text} starts one,
 * {"stop": id} does what SIGTERM would do: runs the shutdown hooks that the tool registered with Kafka's Exit.
 * Writes {"id", "out"} and {"id", "err"} for each line the tool prints, and {"id", "exit": code} when it is over.
 * Streams, hooks and exit code belong to a tool by an inheritable thread-local, so that its threads print as it does.
 */
public final class ToolRunner {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final InheritableThreadLocal<Run> CURRENT = new InheritableThreadLocal<>();
    private static final Map<String, Run> RUNS = new ConcurrentHashMap<>();
    private static final PrintStream ANSWERS = System.out;
    private static final PrintStream REAL_ERR = System.err;

    /** Unwinds the thread that called Exit.exit. An Error, so that a tool's catch of Exception lets it pass. */
    private static final class ExitError extends Error {
        ExitError() {
            super("exit", null, false, false);
        }
    }

    private static final class Run {
        final String id;
        final InputStream in;
        final List<Runnable> hooks = new ArrayList<>();
        final PrintStream out = lines("out");
        final PrintStream err = lines("err");
        final ThreadGroup group;
        Integer exit;

        Run(String id, String stdin) {
            this.id = id;
            this.group = new ThreadGroup("tool-" + id);
            this.in = new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8));
        }

        private PrintStream lines(String kind) {
            return new PrintStream(new LineStream(line -> answer(Map.of("id", id, kind, line))), true,
                    StandardCharsets.UTF_8);
        }

        synchronized void exit(int code) {
            if (exit == null) {
                exit = code;
            }
        }

        /** The hooks run once, whether the tool ends by itself or is stopped. */
        void runHooks() {
            List<Runnable> taken = jvmHooks(group);
            synchronized (this) {
                taken.addAll(hooks);
                hooks.clear();
            }
            taken.forEach(Runnable::run);
        }
    }

    /** Takes over the hooks that threads of `group` gave to the JVM itself (the verifiable producer does). */
    private static List<Runnable> jvmHooks(ThreadGroup group) {
        try {
            // The JVM has no public list of them: started with --add-opens=java.base/java.lang=ALL-UNNAMED
            Class<?> holder = Class.forName("java.lang.ApplicationShutdownHooks");
            java.lang.reflect.Field field = holder.getDeclaredField("hooks");
            field.setAccessible(true);
            List<Runnable> taken = new ArrayList<>();
            synchronized (holder) {
                for (Object hook : ((Map<?, ?>) field.get(null)).keySet()) {
                    if (((Thread) hook).getThreadGroup() == group) {
                        taken.add((Thread) hook);
                    }
                }
            }
            taken.forEach(hook -> Runtime.getRuntime().removeShutdownHook((Thread) hook));
            return taken;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private interface LineSink {
        void line(String text);
    }

    private static final class LineStream extends OutputStream {
        private final LineSink sink;
        private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();

        LineStream(LineSink sink) {
            this.sink = sink;
        }

        @Override
        public synchronized void write(int b) {
            if (b != '\n') {
                buffer.write(b);
                return;
            }
            sink.line(buffer.toString(StandardCharsets.UTF_8));
            buffer.reset();
        }

        @Override
        public synchronized void close() {
            if (buffer.size() > 0) {
                write('\n');
            }
        }
    }

    /** Passes on to the stream of the tool that the calling thread belongs to. */
    private static final class Routed extends OutputStream {
        private final boolean err;

        Routed(boolean err) {
            this.err = err;
        }

        private OutputStream target() {
            Run run = CURRENT.get();
            return run == null ? REAL_ERR : err ? run.err : run.out;
        }

        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            try {
                target().write(bytes, offset, length);
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    private static final class RoutedIn extends InputStream {
        @Override
        public int read() throws java.io.IOException {
            Run run = CURRENT.get();
            return run == null ? -1 : run.in.read();
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws java.io.IOException {
            Run run = CURRENT.get();
            return run == null ? -1 : run.in.read(bytes, offset, length);
        }
    }

    private static void answer(Map<String, Object> value) {
        try {
            String text = JSON.writeValueAsString(value);
            synchronized (ANSWERS) {
                ANSWERS.println(text);
                ANSWERS.flush();
            }
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void run(String id, String mainClass, String[] args, String stdin) {
        Run run = new Run(id, stdin);
        RUNS.put(id, run);
        Thread thread = new Thread(run.group, () -> {
            CURRENT.set(run);
            try {
                Method main = Class.forName(mainClass).getMethod("main", String[].class);
                main.invoke(null, (Object) args);
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof ExitError)) {
                    e.getCause().printStackTrace();
                    run.exit(1);
                }
            } catch (ReflectiveOperationException e) {
                e.printStackTrace();
                run.exit(1);
            }
            try {
                run.runHooks();
            } catch (ExitError e) {
                // a hook that exits again changes nothing
            }
            run.exit(0);
            run.out.close();
            run.err.close();
            RUNS.remove(id);
            answer(Map.of("id", id, "exit", run.exit));
        }, "tool-" + id);
        thread.setDaemon(true);
        thread.start();
    }

    private static void stop(String id) {
        Run run = RUNS.get(id);
        if (run == null) {
            return;
        }
        Thread thread = new Thread(() -> {
            CURRENT.set(run);
            run.runHooks();
        }, "stop-" + id);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] ignored) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setIn(new RoutedIn());
        System.setOut(new PrintStream(new Routed(false), true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(new Routed(true), true, StandardCharsets.UTF_8));
        Exit.Procedure procedure = (code, message) -> {
            Run run = CURRENT.get();
            if (run != null) {
                if (message != null) {
                    run.err.println(message);
                }
                run.exit(code);
            }
            throw new ExitError();
        };
        Exit.setExitProcedure(procedure);
        Exit.setHaltProcedure(procedure);
        Exit.setShutdownHookAdder((name, hook) -> {
            Run run = CURRENT.get();
            if (run != null) {
                synchronized (run) {
                    run.hooks.add(hook);
                }
            }
        });
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            JsonNode command = JSON.readTree(line);
            if (command.has("stop")) {
                stop(command.get("stop").asText());
            } else {
                String[] args = JSON.convertValue(command.get("args"), String[].class);
                run(command.get("run").asText(), command.get("main").asText(), args, command.path("stdin").asText(""));
            }
        }
    }
}
