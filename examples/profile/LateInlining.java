/**
 * A program whose compiled code HotSpot describes wrongly.
 *
 * <p>All of its time passes in {@code work}. All four methods become one piece of machine code, into
 * which the compiler inlines {@code Double.valueOf} last; from then on it notes what it makes, the
 * loop of {@code work} among it, as the call in {@code product}. Profilers that take its word find
 * the time in {@code product}.
 *
 * <p>Run it with {@code java LateInlining.java}; the argument is the number of steps, in thousands.
 */
public final class LateInlining {
    private static int drawn;

    private static int work(int turns) {
        int value = 1;
        for (int turn = 0; turn < turns; turn++) value = value * 0xa45 ^ value >>> 15;
        return value;
    }

    private static Object product(Object left, double right) {
        return Double.valueOf((Double) left * right);
    }

    private static Object step(Object last, int turns) {
        drawn = work(turns);
        return product(last, 1.0 + (drawn & 1));
    }

    public static void main(String[] words) {
        int thousands = words.length == 0 ? 20_000 : Integer.parseInt(words[0]);
        Object last = 1.0;
        for (int round = 0; round < thousands; round++)
            for (int index = 0; index < 1000; index++) last = step(last, 150 + index % 3);
        System.out.println(last);
    }
}
