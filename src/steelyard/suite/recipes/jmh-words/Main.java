import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import words.Words;

/**
 * Runs the benchmark in one fork, once in each iteration.
 *
 * <pre>java -cp ... Main INPUT ITERATIONS</pre>
 *
 * JMH's report goes to standard error, its JSON to the file that Steelyard names. Standard output
 * has the checksum of the result alone. {@code STEELYARD_ITERATION_COUNT} goes before ITERATIONS.
 */
public final class Main {
    private static final int WARMUP_ITERATIONS = 150;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            System.err.println("Usage: Main INPUT ITERATIONS");
            System.exit(2);
        }
        String asked = System.getenv("STEELYARD_ITERATION_COUNT");
        String count = asked == null || asked.isEmpty() ? arguments[1] : asked;
        run(arguments[0], Integer.parseInt(count));
        Words words = new Words();
        words.input = arguments[0];
        words.read();
        Checksum checksum = new Checksum();
        checksum.add(words.counted());
        System.out.printf("jmh-words %016x%n", checksum.value());
    }

    private static void run(String input, int count) throws RunnerException {
        ChainedOptionsBuilder options =
                new OptionsBuilder()
                        .include(Words.class.getName())
                        .param("input", input)
                        .forks(1) // Steelyard repeats executions itself
                        .warmupIterations(WARMUP_ITERATIONS)
                        .measurementIterations(count)
                        .shouldFailOnError(true)
                        .output("/dev/stderr");
        String file = System.getenv("STEELYARD_ITERATIONS");
        if (file != null && !file.isEmpty()) {
            options.resultFormat(ResultFormatType.JSON).result(file);
        }
        new Runner(options.build()).run();
    }
}
