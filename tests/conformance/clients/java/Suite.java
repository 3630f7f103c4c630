import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;

/** Runs and tells operations as clients/python/conformance.py says. */
final class Suite {
    static final long DEADLINE_MS = 30_000;

    interface Operation {
        void run() throws Exception;
    }

    private final Map<String, Operation> operations = new LinkedHashMap<>();

    Suite add(String name, Operation operation) {
        operations.put(name, operation);
        return this;
    }

    /** Those that `some` names, separated by commas; null: all but `unasked`. Returns the exit code. */
    int run(String some, Set<String> unasked) {
        List<String> names = some == null ? operations.keySet().stream().filter(name -> !unasked.contains(name)).toList()
                                          : List.of(some.split(","));
        boolean failed = false;
        for (String name : names) {
            long began = System.nanoTime();
            String result = "ok";
            try {
                Operation operation = operations.get(name);
                check(operation != null, "there is no such operation");
                operation.run();
            } catch (Throwable error) {
                failed = true;
                result = "failed: " + error + " at " + place(error);
            }
            System.out.printf("op\t%s\t%d\t%s%n", name, (System.nanoTime() - began) / 1_000_000,
                              result.replace('\n', ' ').replace('\t', ' '));
            System.out.flush();
        }
        return failed ? 1 : 0;
    }

    private static String place(Throwable error) {
        StringBuilder all = new StringBuilder();
        for (StackTraceElement frame : error.getStackTrace()) {
            String file = String.valueOf(frame.getFileName());
            if (file.startsWith("Clients") || file.startsWith("Tools")) all.append(file).append(':').append(frame.getLineNumber()).append(' ');
        }
        return all.toString();
    }

    static void check(boolean condition, Object what) {
        if (!condition) throw new AssertionError(String.valueOf(what));
    }

    static void same(Object expected, Object actual) {
        check(expected.equals(actual), "expected " + expected + ", not " + actual);
    }

    static void eventually(String what, Callable<Boolean> condition) throws Exception {
        long end = System.currentTimeMillis() + DEADLINE_MS;
        while (!condition.call()) {
            check(System.currentTimeMillis() < end, "not within " + DEADLINE_MS + " ms: " + what);
            Thread.sleep(20);
        }
    }

    /** `call` must end with an error of this class (its simple name). */
    static void refused(String error, Callable<?> call) throws Exception {
        Object result;
        try {
            result = call.call();
        } catch (Exception raised) {
            Throwable cause = raised instanceof ExecutionException ? raised.getCause() : raised;
            same(error, cause.getClass().getSimpleName());
            return;
        }
        throw new AssertionError(error + " was expected, not " + result);
    }
}
