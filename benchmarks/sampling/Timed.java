import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The same work each time, as much as `timed` of shares.c does: so many rounds of three chains of
 * multiplications. Writes how long it took, in nanoseconds, once everything was compiled.
 */
public final class Timed {
    private static final int UNIT = 6_000;
    private static final int WARM_UP_ROUNDS = 2_000;

    private static long chain(int turns, long x) {
        for (int i = 0; i < turns; i++) {
            x = x * 2862933555777941757L + 1;
        }
        return x;
    }

    private static long loops(int rounds, long x) {
        for (int i = 0; i < rounds; i++) {
            x = chain(UNIT, x) + chain(2 * UNIT, x) + chain(4 * UNIT, x);
        }
        return x;
    }

    public static void main(String[] words) throws IOException {
        int rounds = Integer.parseInt(words[0]);
        long x = loops(WARM_UP_ROUNDS, 1);
        long begin = System.nanoTime();
        x = loops(rounds, x);
        long elapsed = System.nanoTime() - begin;
        Files.writeString(Path.of(words[1]), elapsed + "\n");
        if (x == 0) {
            System.out.println(x);
        }
    }
}
