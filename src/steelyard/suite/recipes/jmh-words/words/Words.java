package words;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Counts the words of a text and sorts them, under JMH. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class Words {
    @Param("")
    public String input;

    private String text;
    private String expected;

    @Setup
    public void read() throws IOException {
        text = Files.readString(Path.of(input), StandardCharsets.ISO_8859_1);
        expected = counted();
    }

    @Benchmark
    public String words() {
        String found = counted();
        if (!found.equals(expected)) {
            throw new IllegalStateException("an iteration differs from the first one");
        }
        return found;
    }

    /** The words by how often they come. */
    public String counted() {
        Map<String, Integer> counts = new HashMap<>();
        for (String word : text.split("[ \n]+")) {
            counts.merge(word, 1, Integer::sum);
        }
        return counts.entrySet().stream()
                .sorted(
                        Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                                .thenComparing(Map.Entry.comparingByKey()))
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
    }
}
