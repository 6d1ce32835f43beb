import java.nio.file.Path;

/**
 * Runs a workload again and again and writes what each iteration took.
 *
 * <pre>java -cp ... Harness WORKLOAD INPUT SCALE ITERATIONS</pre>
 *
 * The time and the checksum of each iteration go to standard error as text, and the time to the
 * file that Steelyard names. Standard output has the checksum alone, once, so that it is the same
 * for any number of iterations. An iteration whose checksum differs from the first one's ends the
 * program with status 1. {@code STEELYARD_ITERATION_COUNT} goes before ITERATIONS.
 */
public final class Harness {
    private static final String COUNT_VARIABLE = "STEELYARD_ITERATION_COUNT";

    private Harness() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 4) {
            fail(2, "Usage: Harness WORKLOAD INPUT SCALE ITERATIONS");
        }
        int scale = positive("SCALE", arguments[2]);
        String asked = System.getenv(COUNT_VARIABLE);
        int count =
                asked == null || asked.isEmpty()
                        ? positive("ITERATIONS", arguments[3])
                        : positive(COUNT_VARIABLE, asked);
        Workload workload = load(arguments[0]);
        workload.prepare(Path.of(arguments[1]), scale);
        System.out.printf("%s %016x%n", arguments[0], repeat(workload, count));
    }

    private static long repeat(Workload workload, int count) throws Exception {
        long expected = 0;
        for (int i = 0; i < count; i++) {
            Checksum checksum = new Checksum();
            long start = System.nanoTime();
            workload.iterate(checksum);
            double seconds = (System.nanoTime() - start) * 1e-9;
            SteelyardIterations.iteration(seconds);
            long found = checksum.value();
            System.err.printf("iteration %d: %.3f ms, checksum %016x%n", i, seconds * 1e3, found);
            if (i == 0) {
                expected = found;
            } else if (found != expected) {
                fail(1, String.format("iteration %d differs from the first one", i));
            }
        }
        return expected;
    }

    private static Workload load(String name) throws ReflectiveOperationException {
        return Class.forName(name).asSubclass(Workload.class).getDeclaredConstructor().newInstance();
    }

    private static int positive(String name, String text) {
        try {
            int value = Integer.parseInt(text);
            if (value > 0) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            // The message below says what is wanted.
        }
        fail(2, name + " must be a whole number above 0, not '" + text + "'");
        return 0;
    }

    private static void fail(int status, String message) {
        System.err.println(message);
        System.exit(status);
    }
}
