import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Writes the iterations of a program for {@code steelyard measure --iterations json-lines}.
 *
 * <pre>
 * int count = SteelyardIterations.count(100);
 * for (int i = 0; i < count; i++) {
 *     long start = System.nanoTime();
 *     work();
 *     SteelyardIterations.iteration((System.nanoTime() - start) * 1e-9);
 * }
 * </pre>
 *
 * Java 11 or later, no dependency. Where {@code STEELYARD_ITERATIONS} is not set, as when the
 * program is run by itself, nothing is written.
 */
public final class SteelyardIterations {
    private static final String PATH = System.getenv("STEELYARD_ITERATIONS");

    private SteelyardIterations() {}

    /**
     * How many iterations are wanted, with those of the warm-up; {@code otherwise} where nobody
     * says.
     */
    public static int count(int otherwise) {
        String wanted = System.getenv("STEELYARD_ITERATION_COUNT");
        return wanted == null || wanted.isEmpty() ? otherwise : Integer.parseInt(wanted);
    }

    /** The time of one iteration. */
    public static void iteration(double seconds) {
        value("iteration_time", "s", seconds, false);
    }

    /** The time of an iteration that belongs to the warm-up. All of them come first. */
    public static void warmup(double seconds) {
        value("iteration_time", "s", seconds, true);
    }

    /** One value of a metric of which less is better, such as ("latency", "s", 0.002, false). */
    public static void value(String metric, String unit, double value, boolean warmup) {
        write(metric, unit, "lower", value, warmup);
    }

    /** One value of a metric of which more is better, such as ("requests", "1/s", 2000, false). */
    public static void rate(String metric, String unit, double value, boolean warmup) {
        write(metric, unit, "higher", value, warmup);
    }

    /** The texts are taken as they are: letters, digits, '_', '/' and '.'. */
    private static synchronized void write(
            String metric, String unit, String direction, double value, boolean warmup) {
        if (PATH == null || PATH.isEmpty()) {
            return;
        }
        String line =
                "{\"metric\": \"" + metric + "\", \"unit\": \"" + unit + "\", \"direction\": \""
                        + direction + "\", \"value\": " + value
                        + ", \"warmup\": " + warmup + "}\n";
        try {
            Files.write(
                    Path.of(PATH),
                    line.getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException failure) {
            throw new UncheckedIOException("STEELYARD_ITERATIONS cannot be written", failure);
        }
    }
}
